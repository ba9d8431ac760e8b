"""Writing a repository as it was before a session into a folder."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fairtrial.model.errors import StoreError, UsageError
from fairtrial.model.start_state import Override, StartState
from fairtrial.sessions.start_state.filters import fill, without_filters
from fairtrial.workspaces.reading_git import Entry, Git
from fairtrial.workspaces.snapshots.git_program import GitError

_LINK: Final = "120000"
_EXECUTABLE: Final = "100755"


@dataclass(frozen=True, slots=True)
class LaidOut:
    """What was written.

    Attributes:
        files: Files and links.
        skipped: Files that could not be written where they belong, and why.
    """

    files: int
    skipped: tuple[tuple[str, str], ...]


def lay_out(state: StartState, target: Path, environ: Mapping[str, str]) -> LaidOut:
    """Write the files of the commit, and over them what differed from it.

    The user's index, references and working tree are not touched; no `.git` is made; submodules
    are empty folders.

    Args:
        state: A state with a base and a repository.
        target: It is made when it is not there.
        environ: The environment that git gets.

    Raises:
        UsageError: the folder is not empty, or cannot be written.
        StoreError: git cannot read the commit any more.
        NotFoundError: there is no git.
    """
    if state.base is None or state.repo is None:
        raise ValueError("a state without a base cannot be laid out")
    empty(target)
    repo = Git(Path(state.repo), environ)
    try:
        tree = repo.tree(state.base.commit)
        check_out(repo, tree, target)
    except GitError as error:
        _clear(target)
        raise StoreError("git cannot write the files", where=state.repo, why=str(error)) from error
    present = {path for path, entry in tree.items() if not entry.is_submodule}
    skipped = put_all(target, state.overrides)
    for override in state.overrides:
        if override.path in skipped:
            continue
        if override.content is None:
            present.discard(override.path)
        else:
            present.add(override.path)
    return LaidOut(len(present), tuple(skipped.items()))


def empty(target: Path) -> None:
    """Make a folder, or see that it is empty.

    Raises:
        UsageError: it is not empty, or cannot be made.
    """
    try:
        target.mkdir(parents=True, exist_ok=True)
        full = any(target.iterdir())
    except OSError as error:
        raise UsageError(
            f"{target} cannot be made: {error.strerror or error}", fix="name another folder"
        ) from error
    if full:
        raise UsageError(f"{target} is not empty", fix="name a new or an empty folder")


def check_out(repo: Git, tree: Mapping[str, Entry], target: Path) -> None:
    """Write files of a repository into a folder, as git checks them out, without its filters.

    Raises:
        GitError: git failed.
    """
    if not tree:
        return
    folder = os.fsdecode(repo.run("rev-parse", "--absolute-git-dir").removesuffix(b"\n"))
    within = Git(target, repo.environ)
    with tempfile.TemporaryDirectory(prefix="fairtrial-") as scratch:
        index = Path(scratch) / "index"
        fill(repo, index, tree)
        within.run(
            f"--git-dir={folder}",
            f"--work-tree={target.resolve()}",
            "checkout-index",
            "--all",
            "--force",
            "--quiet",
            variables={"GIT_INDEX_FILE": str(index)},
            settings=without_filters(repo),
        )


def put_all(target: Path, overrides: Sequence[Override]) -> dict[str, str]:
    """Write and remove files below a folder; return those where it was not done, and why."""
    skipped: dict[str, str] = {}
    # First what is not there: a folder may stand where a file was.
    for override in sorted(overrides, key=lambda one: one.content is not None):
        try:
            reason = _put(target, override)
        except OSError as error:
            reason = error.strerror or str(error)
        except ValueError as error:  # a name that no file can have
            reason = str(error)
        if reason is not None:
            skipped[override.path] = reason
    return skipped


def _put(target: Path, override: Override) -> str | None:
    """Write or remove a file; return why it was not done."""
    *folders, name = override.path.split("/")
    if not name or any(part in ("", ".", "..") for part in (*folders, name)):
        return "it is no path inside of the repository"
    folder = target
    for part in folders:
        folder /= part
        facts = _facts(folder)
        if facts is None and override.content is None:
            return None
        if facts is None:
            folder.mkdir()
        elif not stat.S_ISDIR(facts.st_mode):
            return "a file or a link stands where its folder must be"
    if not _make_room(folder / name):
        return "a folder stands where it must be"
    if override.content is not None:
        _write(folder / name, override.content, override.mode)
    else:
        _prune(target, folder)
    return None


def _make_room(place: Path) -> bool:
    """Remove a file, a link or an empty folder; return whether nothing is there now."""
    facts = _facts(place)
    if facts is None:
        return True
    if not stat.S_ISDIR(facts.st_mode):
        place.unlink()
        return True
    if any(place.iterdir()):
        return False
    place.rmdir()
    return True


def _write(place: Path, content: bytes, mode: str) -> None:
    if mode == _LINK:
        place.symlink_to(os.fsdecode(content))
        return
    place.write_bytes(content)
    if mode == _EXECUTABLE:
        place.chmod(place.stat().st_mode | 0o111)


def _facts(place: Path) -> os.stat_result | None:
    try:
        return place.lstat()
    except FileNotFoundError:
        return None


def _prune(target: Path, folder: Path) -> None:
    """Remove folders that are empty now: git knows none."""
    while folder != target and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def _clear(target: Path) -> None:
    """Remove what was written into a folder; the folder stays."""
    for place in target.iterdir():
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink()
