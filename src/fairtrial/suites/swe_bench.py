"""An instance of SWE-bench as an eval task of a local clone of its repository."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from fairtrial.interchange.eval_tasks.foreign import ForeignTask
from fairtrial.interchange.eval_tasks.swe_bench import (
    COMMAND,
    LIMIT_S,
    PLACE,
    Instance,
    runner_files,
)
from fairtrial.model.errors import UsageError
from fairtrial.model.eval_task import Command, EvalTask, RepoStart, Verifier
from fairtrial.workspaces.snapshots.git_program import Git, GitError

_LONGEST_S: Final = 120.0
_SETUP: Final = (
    "what its repository needs is yours to install: a setup in [environment], or an image"
)


def clone_of(repos: Path, repo: str) -> Path:
    """Return the local clone of a repository.

    Args:
        repos: The folder of clones.
        repo: `owner/name`; its clone is `owner/name`, `owner__name` or `name` in the folder.

    Raises:
        UsageError: there is none.
    """
    owner, _, name = repo.partition("/")
    if name and not {"", ".", ".."} & {owner, name} and "/" not in name:
        for place in (repos / owner / name, repos / f"{owner}__{name}", repos / name):
            for folder in (place, place.with_name(f"{place.name}.git")):
                if (folder / ".git").exists() or (folder / "HEAD").is_file():
                    return folder.resolve()
    raise UsageError(f"there is no clone of {repo}", where=str(repos))


def task_of(instance: Instance, clone: Path, environ: Mapping[str, str]) -> ForeignTask:
    """Return an instance as a task: its test patch is hidden, its patch the reference.

    Nothing is written into the clone.

    Raises:
        UsageError: the commit is not in the clone, or the test patch does not apply to it.
    """
    git = Git(environ, lambda: _LONGEST_S)
    try:
        words = ["rev-parse", "-q", "--verify", f"{instance.commit}^{{commit}}"]
        found = git.run(words, cwd=clone, check=False)
        if found.code != 0:
            raise UsageError(f"the commit {instance.commit} is not in the clone", where=str(clone))
        commit = found.lines()[0]
        brought, lost = _brought(git, clone, commit, instance.test_patch)
    except GitError as error:
        raise UsageError(f"{instance.id}: {error}", where=str(clone)) from error
    if any(path.startswith(f"{PLACE}/") for path in brought):
        raise UsageError(f"{instance.id} has files in {PLACE} of its own")
    task = EvalTask(
        suite="",
        name=instance.id,
        instruction=f"{instance.problem.rstrip()}\n",
        start=RepoStart(str(clone), commit),
        verifier=Verifier(Command(COMMAND, LIMIT_S), None, {**brought, **runner_files(instance)}),
        tags=("swe-bench", instance.repo),
        reference=instance.patch,
        metadata={**instance.facts, "repo": instance.repo},
    )
    return ForeignTask(task, {}, (*lost, _SETUP))


def _brought(
    git: Git, clone: Path, commit: str, test_patch: str
) -> tuple[dict[str, bytes], list[str]]:
    """Return the files that a patch changes as it leaves them, and what of it is lost."""
    (objects,) = git.run(["rev-parse", "--git-path", "objects"], cwd=clone).lines()
    with tempfile.TemporaryDirectory(prefix="fairtrial-swe-bench-") as name:
        (Path(name) / "objects").mkdir()
        env = {
            "GIT_INDEX_FILE": f"{name}/index",
            "GIT_OBJECT_DIRECTORY": f"{name}/objects",
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str((clone / objects).absolute()),
        }
        patch = test_patch.encode("utf-8", "surrogateescape")
        patch = patch if patch.endswith(b"\n") else patch + b"\n"
        git.run(["read-tree", commit], cwd=clone, env=env)
        applying = ["apply", "--cached", "--whitespace=nowarn", "-"]
        git.run(applying, cwd=clone, env=env, stdin=patch)
        listing = ["diff", "--cached", "--name-status", "--no-renames", "-z", commit]
        words = git.run(listing, cwd=clone, env=env).out.split(b"\0")[:-1]
        files: dict[str, bytes] = {}
        gone = []
        for status, raw in zip(words[::2], words[1::2], strict=True):
            path = os.fsdecode(raw)
            if status == b"D":
                gone.append(path)
            else:
                files[path] = git.run(["cat-file", "blob", f":{path}"], cwd=clone, env=env).out
    if not files:
        raise UsageError("the test patch brings no file", where=str(clone))
    lost = [f"its tests remove {', '.join(gone[:3])}, which stays"] if gone else []
    return files, lost
