"""Writing the workspace of an eval task as its agent finds it: without history or hidden files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from glob import escape
from pathlib import Path
from typing import Final

from fairtrial.model.errors import FairtrialError, Undecidable
from fairtrial.model.eval_task import EvalTask, FolderStart, RepoStart
from fairtrial.model.snapshot import Snapshot
from fairtrial.model.start_state import Base, BaseSource, Grade, StartState
from fairtrial.ports.snapshots import SnapshotFiles
from fairtrial.sessions.start_state.laying_out import lay_out
from fairtrial.suites.folders import SUITES, TASKS
from fairtrial.suites.task_file import FILE
from fairtrial.workspaces.snapshots.git_program import Git, GitError

_LONGEST_S: Final = 600.0
_WHO: Final = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (
        ("NAME", "fairtrial"),
        ("EMAIL", "fairtrial@localhost"),
        ("DATE", "2000-01-01T00:00:00Z"),
    )
}
"""Always the same, so that equal files are equal commits."""
_TASK_FILES: Final = f"{SUITES}/*/{TASKS}/*/{FILE}"
_MESSAGE: Final = "The repository as it was"


@dataclass(frozen=True, slots=True)
class Sources:
    """Where workspaces come from.

    Attributes:
        environ: The environment of this process.
        find: Returns a snapshot by its id.
        snapshots: What is in snapshots.
    """

    environ: Mapping[str, str]
    find: Callable[[str], Snapshot]
    snapshots: SnapshotFiles


def write_start(task: EvalTask, files: Path | None, folder: Path, sources: Sources) -> None:
    """Write a task's workspace into an empty folder, as its agent finds it.

    A repository has one commit, without those before and after it, and no remote; what was not
    committed is not committed. No hidden file is in it, nor in any object of it.

    Args:
        task: The task.
        files: The folder of a task that begins as one.
        folder: Where to.
        sources: Where the content comes from.

    Raises:
        Undecidable: the content is not there any more.
    """
    try:
        if isinstance(task.start, FolderStart):
            _copy(task.start, files, folder)
        else:
            _write_repository(task.start, folder, sources)
        hidden = hidden_of(task, folder, sources.environ)
        if hidden:
            hide(folder, hidden, sources.environ)
    except (FairtrialError, GitError, OSError) as error:
        raise Undecidable(
            f"the workspace of {task.suite}/{task.name} cannot be made: {in_a_line(error)}"
        ) from error


def write_files(
    task: EvalTask, start: RepoStart, folder: Path, sources: Sources
) -> tuple[str, ...]:
    """Write the files alone of a task's workspace, without a repository around them.

    Returns:
        The paths and globs of what was left out, since the agent must not see it.

    Args:
        task: The task.
        start: How it begins.
        folder: Where to; empty.
        sources: Where the content comes from.

    Raises:
        Undecidable: the content is not there any more.
    """
    try:
        if start.snapshot is not None:
            sources.snapshots.restore(sources.find(start.snapshot), folder)
        else:
            _lay_out(start, folder, sources.environ)
            _patch(start, folder, Git(sources.environ, lambda: _LONGEST_S))
        hidden = hidden_of(task, folder, sources.environ)
        hide(folder, hidden, sources.environ)
    except (FairtrialError, GitError, OSError) as error:
        raise Undecidable(
            f"the workspace of {task.suite}/{task.name} cannot be made: {in_a_line(error)}"
        ) from error
    return hidden


def hidden_of(task: EvalTask, folder: Path, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the paths and globs of what the agent must not see of a workspace.

    They are the hidden files of its task, and the suites of a repository: what solves tasks, and
    what checks them, stands in those.

    Args:
        task: The task.
        folder: Its workspace.
        environ: The environment that git gets.

    Raises:
        GitError: git failed.
    """
    hidden = (*task.verifier.hidden_paths, *task.verifier.patterns)
    if isinstance(task.start, FolderStart):
        return hidden
    return (*hidden, *suites_in(folder, environ))


def suites_in(folder: Path, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return globs of the suites of eval tasks in a workspace, and in its commit.

    Raises:
        GitError: git failed.
    """
    paths = {path.relative_to(folder).as_posix() for path in folder.glob(_TASK_FILES)}
    if (folder / ".git").is_dir():
        git = Git(environ, lambda: _LONGEST_S)
        for words in (["ls-files"], ["ls-tree", "-r", "--name-only", "HEAD"]):
            if words[0] == "ls-files" or _has_head(git, folder):
                listed = _paths(git.run([*words, "-z", "--", SUITES], cwd=folder).out)
                paths |= {path for path in listed if fnmatchcase(path, _TASK_FILES)}
    suites = {path.split("/")[1] for path in paths}
    return tuple(f"{SUITES}/{escape(suite)}/*" for suite in sorted(suites))


def hide(folder: Path, hidden: Sequence[str], environ: Mapping[str, str]) -> None:
    """Take files out of a workspace, of its commit and of its index.

    Args:
        folder: The workspace.
        hidden: Paths and globs of them, as `fnmatch` takes them; a star matches slashes too.
        environ: The environment that git gets.

    Raises:
        GitError: git failed.
        OSError: a file cannot be removed.
    """
    for path in list(_files(folder)):
        if fits(path, hidden):
            (folder / path).unlink()
            _prune(folder, (folder / path).parent)
    if not (folder / ".git").is_dir():
        return
    git = Git(environ, lambda: _LONGEST_S)
    known = _paths(git.run(["ls-files", "-z", "--cached"], cwd=folder).out)
    committed = _has_head(git, folder)
    if committed:
        known |= _paths(git.run(["ls-tree", "-r", "-z", "--name-only", "HEAD"], cwd=folder).out)
    gone = sorted(path for path in known if fits(path, hidden))
    if not gone:
        return
    if committed:
        _without(git, folder, gone)
    listed = b"".join(os.fsencode(path) + b"\0" for path in gone)
    git.run(["update-index", "-z", "--force-remove", "--stdin"], cwd=folder, stdin=listed)
    _forget(git, folder)


def in_a_line(error: Exception) -> str:
    """Return what an error says, for the middle of a sentence."""
    return "; ".join(line.strip() for line in str(error).splitlines() if line.strip())


def _write_repository(start: RepoStart, folder: Path, sources: Sources) -> None:
    if start.snapshot is not None:
        snapshot = sources.find(start.snapshot)
        sources.snapshots.restore_repository(snapshot, folder)
        return
    git = Git(sources.environ, lambda: _LONGEST_S)
    _lay_out(start, folder, sources.environ)
    git.run(["init", "-q", "--template=", "-b", "main"], cwd=folder)
    if start.commit is not None:
        # What is ignored and committed all the same is of the commit, too. Thousands of files are
        # forced to the disk together.
        words = ["-c", "core.autocrlf=false", "-c", "core.fsyncMethod=batch"]
        git.run([*words, "add", "--all", "--force", "."], cwd=folder)
        git.run(["commit", "-q", "--allow-empty", "-m", _MESSAGE], cwd=folder, env=_WHO)
        _forget(git, folder)
    _patch(start, folder, git)


def _lay_out(start: RepoStart, folder: Path, environ: Mapping[str, str]) -> None:
    if start.commit is not None:
        base = Base(BaseSource.RECORDED, start.commit)
        lay_out(StartState(Grade(start.grade), (), start.repo, base), folder, environ)


def _patch(start: RepoStart, folder: Path, git: Git) -> None:
    if start.patch:
        patch = start.patch.encode("utf-8", "surrogateescape")
        git.run(["apply", "--whitespace=nowarn", "-"], cwd=folder, stdin=patch)


def _copy(start: FolderStart, files: Path | None, folder: Path) -> None:
    if start.dockerfile is not None:
        return  # the image was built from them, and the workspace is what it holds
    if files is None or not files.is_dir():
        if start.files:
            raise FileNotFoundError(f"the folder {files} is gone")
        return
    for name in start.files:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(files / name, target, follow_symlinks=False)


def _without(git: Git, folder: Path, gone: Iterable[str]) -> None:
    """Put a commit without some files in place of the one that is checked out."""
    index = {"GIT_INDEX_FILE": str(folder / ".git" / "without-hidden")}
    git.run(["read-tree", "HEAD"], cwd=folder, env=index)
    listed = b"".join(os.fsencode(path) + b"\0" for path in gone)
    words = ["update-index", "-z", "--force-remove", "--stdin"]
    git.run(words, cwd=folder, env=index, stdin=listed)
    tree = git.run(["write-tree"], cwd=folder, env=index).lines()[0]
    made = git.run(["commit-tree", tree, "-m", _MESSAGE], cwd=folder, env=_WHO).lines()[0]
    git.run(["update-ref", "HEAD", made], cwd=folder)
    (folder / ".git" / "without-hidden").unlink()


def _forget(git: Git, folder: Path) -> None:
    """Remove every object that nothing names any more, and what remembers where HEAD was."""
    shutil.rmtree(folder / ".git" / "logs", ignore_errors=True)
    (folder / ".git" / "ORIG_HEAD").unlink(missing_ok=True)
    git.run(["repack", "-a", "-d", "-q"], cwd=folder)
    git.run(["prune", "--expire=now"], cwd=folder)


def _prune(folder: Path, place: Path) -> None:
    """Remove folders that are empty now: their names tell of what is hidden."""
    while place != folder and not any(place.iterdir()):
        place.rmdir()
        place = place.parent


def _has_head(git: Git, folder: Path) -> bool:
    return git.run(["rev-parse", "-q", "--verify", "HEAD"], cwd=folder, check=False).code == 0


def _paths(listed: bytes) -> set[str]:
    return {os.fsdecode(path) for path in listed.split(b"\0") if path}


def _files(folder: Path) -> Iterable[str]:
    for place, folders, names in os.walk(folder):
        if Path(place) == folder:
            folders[:] = [name for name in folders if name != ".git"]
        links = [name for name in folders if Path(place, name).is_symlink()]
        for name in (*names, *links):
            yield Path(place, name).relative_to(folder).as_posix()


def fits(path: str, patterns: Sequence[str]) -> bool:
    """Return whether a path is one of some paths, or fits one of some globs."""
    return any(path == pattern or fnmatchcase(path, pattern) for pattern in patterns)
