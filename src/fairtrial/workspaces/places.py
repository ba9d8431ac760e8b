"""Folders that are in use by a living process, and those that a dead one has left."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from fairtrial.workspaces.copying import remove_tree

PREFIX = "fairtrial-"
"""What the names of control groups and containers begin with; an owner's id follows."""
_LOCK, _NOTES = "lock", "notes"
_NEW = ".new-"
_HALF_MADE_S = 3600.0


class Places:
    """Gives folders to one process, each below a folder of that process's own.

    The owner's folder holds a file that the process keeps locked. The kernel unlocks it when the
    process dies, however it dies, so a folder whose lock can be had is nobody's any more.

    Args:
        root: Where all processes have theirs.
        new_id: Gives a name that nobody else has.
    """

    def __init__(self, root: Path, new_id: Callable[[], str]) -> None:
        self._root = root
        self._new_id = new_id
        self._lock = -1
        self._owner = ""
        self._count = 0

    @property
    def owner(self) -> str:
        """The id of this owner; empty before its first place."""
        return self._owner

    def new(self) -> Path:
        """Return a new empty folder of this owner.

        Raises:
            OSError: it cannot be made.
        """
        if self._lock < 0:
            self._begin()
        self._count += 1
        place = self._root / self._owner / str(self._count)
        place.mkdir(mode=0o700)
        return place

    def name_of(self, place: Path) -> str:
        """Return the name of a place's control groups and containers, which nothing else has."""
        return f"{PREFIX}{self._owner}-{place.name}"

    def note(self, kind: str, name: str) -> None:
        """Write down what is about to be made outside this owner's folder, for `left_by`.

        Args:
            kind: `group` or `engine`.
            name: Its path.
        """
        with (self._root / self._owner / _NOTES).open("a") as notes:
            notes.write(f"{kind} {name}\n")

    def close(self) -> None:
        """Remove what is left of this owner's; what cannot be, a sweep tells of."""
        if self._lock >= 0:
            with contextlib.suppress(OSError):
                remove_tree(self._root / self._owner)
            os.close(self._lock)
            self._lock, self._owner = -1, ""

    def _begin(self) -> None:
        owner = self._new_id()
        self._root.mkdir(parents=True, exist_ok=True, mode=0o700)
        new = self._root / f"{_NEW}{owner}"
        new.mkdir(mode=0o700)
        self._lock = os.open(new / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        new.rename(self._root / owner)  # locked before anybody can see it
        self._owner = owner


def left_by(owner: Path, kind: str) -> list[str]:
    """Return what an owner has noted of a kind."""
    try:
        lines = (owner / _NOTES).read_text().splitlines()
    except OSError:
        return []
    return list(
        dict.fromkeys(line[len(kind) + 1 :] for line in lines if line.startswith(f"{kind} "))
    )


def dead_owners(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield the id and the folder of each dead owner; no other process gets it meanwhile."""
    with contextlib.suppress(FileNotFoundError):
        for folder in sorted(root.iterdir()):
            if folder.name.startswith(_NEW):
                if time.time() - folder.lstat().st_mtime > _HALF_MADE_S:
                    yield folder.name.removeprefix(_NEW), folder
                continue
            with _locked(folder / _LOCK) as had:
                if had:
                    yield folder.name, folder


@contextlib.contextmanager
def _locked(file: Path) -> Iterator[bool]:
    try:
        lock = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        yield False
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        yield False
    else:
        yield True
    finally:
        os.close(lock)
