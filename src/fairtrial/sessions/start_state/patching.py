"""What a repository held before a session, as a patch on the commit that it began at."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from fairtrial.model.errors import StoreError
from fairtrial.model.start_state import StartState
from fairtrial.sessions.start_state.laying_out import check_out, put_all
from fairtrial.workspaces.reading_git import Git
from fairtrial.workspaces.snapshots.git_program import Git as Program
from fairtrial.workspaces.snapshots.git_program import GitError

_LONGEST_S: Final = 300.0
_ATTRIBUTES: Final = ".gitattributes"
_DIFFERENT: Final = 1


def patch_of(state: StartState, environ: Mapping[str, str]) -> bytes:
    """Return what differed from the commit, as `git diff --binary` writes it; empty for nothing.

    It applies to the files as `lay_out` writes those of the commit.

    Args:
        state: A state with a base and a repository, and without a snapshot.
        environ: The environment that git gets.

    Raises:
        StoreError: git cannot read the commit any more.
        NotFoundError: there is no git.
    """
    if state.base is None or state.repo is None:
        raise ValueError("a state without a base has no patch")
    if not state.overrides:
        return b""
    repo = Git(Path(state.repo), environ)
    touched = {override.path for override in state.overrides}
    with tempfile.TemporaryDirectory(prefix="fairtrial-") as scratch:
        try:
            tree = repo.tree(state.base.commit)
            kept = {
                path: entry
                for path, entry in tree.items()
                if path in touched or path.rpartition("/")[2] == _ATTRIBUTES
            }
            for name in ("a", "b"):
                (Path(scratch) / name).mkdir()
                check_out(repo, kept, Path(scratch) / name)
            put_all(Path(scratch) / "b", state.overrides)
            return compared(Path(scratch), environ)
        except GitError as error:
            raise StoreError(
                "git cannot read the files", where=state.repo, why=str(error)
            ) from error


def compared(folder: Path, environ: Mapping[str, str]) -> bytes:
    """Return what differs from the folder `a` to the folder `b`, as a patch.

    Contents are compared as they are, whatever attributes say.

    Args:
        folder: The folder that both lie in.
        environ: The environment that git gets.

    Raises:
        GitError: git failed.
    """
    words = ["diff", "--no-index", "--no-prefix", "--binary", "--full-index"]
    words += ["--no-renames", "--no-ext-diff", "--no-textconv", "a", "b"]
    program = Program(environ, lambda: _LONGEST_S)
    answer = program.run(words, cwd=folder, check=False)
    if answer.code not in (0, _DIFFERENT):
        raise GitError(answer.err)
    return answer.out
