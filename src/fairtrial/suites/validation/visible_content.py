"""All that an agent gets of a workspace: its files, and every object of the repositories in it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fairtrial.suites.validation.unpacking import LIMIT
from fairtrial.workspaces.snapshots.git_program import Git, GitError

_TOGETHER: Final = 32 * 1024 * 1024
"""Bytes of objects that are read at a time."""
_LONGEST_S: Final = 600.0
_FIX: Final = "let no commit, branch or stash of the workspace have it"


@dataclass(frozen=True, slots=True)
class Piece:
    """One thing that an agent could read.

    Attributes:
        place: Where it is, in words.
        data: Its content.
        file: Its path in the workspace; None when it is no file of it.
        fix: What to do when it gives something away; of a file, hiding it is.
    """

    place: str
    data: bytes
    file: str | None = None
    fix: str = "keep it out of there"


def repositories(root: Path) -> list[Path]:
    """Return the git folders below a folder, that of the folder itself first."""
    found = []
    for name, folders, files in os.walk(root):
        if "HEAD" in files and {"objects", "refs"} <= set(folders):
            found.append(Path(name))
    return found


def file_pieces(root: Path, unread: Callable[[str], None]) -> Iterator[Piece]:
    """Yield the files below a folder; links are not followed.

    Packs of git are left out: `object_pieces` has what is in them.

    Args:
        root: The folder.
        unread: Told of each file that cannot be read, or not whole.
    """
    for name, _, files in os.walk(root):
        for file in sorted(files):
            path = Path(name, file)
            told = path.relative_to(root).as_posix()
            try:
                kept = path.lstat()
                if not stat.S_ISREG(kept.st_mode) or path.suffix in (".pack", ".idx", ".rev"):
                    continue
                if kept.st_size > LIMIT:
                    unread(told)
                with path.open("rb") as opened:
                    yield Piece(told, opened.read(LIMIT), told)
            except OSError:
                unread(told)


def object_pieces(folder: Path, root: Path, environ: Mapping[str, str]) -> Iterator[Piece]:
    """Yield every object of a git folder that holds content, be it reachable or not.

    Args:
        folder: The git folder.
        root: The workspace, for the names of places.
        environ: The environment that git gets.

    Raises:
        GitError: git failed.
    """
    git = git_at(folder, environ)
    listed = git(["cat-file", "--batch-all-objects", "--unordered", "--batch-check"]).splitlines()
    where = folder.relative_to(root).as_posix()
    wanted: list[bytes] = []
    size = 0
    for line in listed:
        name, kind, length = line.split()
        if kind == b"tree" or int(length) > LIMIT:
            continue
        wanted.append(name)
        size += int(length)
        if size > _TOGETHER:
            yield from _objects(git, wanted, where)
            wanted, size = [], 0
    yield from _objects(git, wanted, where)


GitHere = Callable[..., bytes]


def git_at(folder: Path, environ: Mapping[str, str]) -> GitHere:
    """Return what runs git on a git folder and returns what it printed.

    It raises `GitError` when git fails.
    """
    git = Git(environ, lambda: _LONGEST_S)

    def run(words: Sequence[str], stdin: bytes = b"") -> bytes:
        return git.run(words, cwd=folder, env={"GIT_DIR": str(folder)}, stdin=stdin).out

    return run


def _objects(git: GitHere, names: Iterable[bytes], where: str) -> Iterator[Piece]:
    asked = b"".join(name + b"\n" for name in names)
    if not asked:
        return
    told = git(["cat-file", "--batch"], asked)
    at = 0
    while at < len(told):
        end = told.index(b"\n", at)
        words = told[at:end].split()
        if len(words) != 3:
            raise GitError(f"git cat-file: {told[at:end].decode(errors='replace')}")
        length = int(words[2])
        data = told[end + 1 : end + 1 + length]
        place = f"{words[1].decode()} {words[0].decode()[:12]} in {where}"
        yield Piece(place, data, fix=_FIX)
        at = end + 1 + length + 1
