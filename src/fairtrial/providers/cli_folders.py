"""Throwaway folders: what a CLI is given to live in for one call, and a copy of its login."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PREFIX: Final = "fairtrial-cli-"
_LOCK: Final = "lock"
_CHUNK: Final = 65536


@dataclass(frozen=True, slots=True)
class Place:
    """The folders of one call; only this user may look into them.

    Attributes:
        config: The CLI's configuration folder; at first it holds the login, or nothing.
        work: Its working directory, empty.
        home: The home folder it sees, empty.
        tmp: Its folder for temporary files. No other one lies in it: Codex drops the programs
            that it needs when its configuration does.
    """

    config: Path
    work: Path
    home: Path
    tmp: Path


class ThrowawayFolders:
    """Makes the folders of calls, and removes them.

    All lie in one folder with a file that this process keeps locked. The kernel releases the lock
    when the process dies, however it dies: whoever opens such folders next removes those of the
    dead.

    Args:
        parent: Where they are made; None is the system's folder for temporary files.
    """

    def __init__(self, parent: Path | None = None) -> None:
        self._parent = Path(tempfile.gettempdir()) if parent is None else parent
        self._root: Path | None = None
        self._lock: int | None = None

    def open(self) -> None:
        """Remove what the dead left, and make this process's folder.

        Raises:
            OSError: no folder can be made.
        """
        if self._root is not None:
            return
        sweep(self._parent)
        root = Path(tempfile.mkdtemp(prefix=PREFIX, dir=self._parent))
        # The file has its name only once it is locked: nobody takes this folder for a dead one's.
        unnamed = root / f"{_LOCK}-new"
        lock = os.open(unnamed, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        unnamed.rename(root / _LOCK)
        self._root, self._lock = root, lock

    def close(self) -> None:
        """Remove everything. Safe to repeat."""
        root, self._root = self._root, None
        lock, self._lock = self._lock, None
        if root is not None:
            shutil.rmtree(root, ignore_errors=True)
        if lock is not None:
            os.close(lock)

    @contextlib.contextmanager
    def place(self, login: Path | None, name: str) -> Iterator[Place]:
        """Yield the folders of a call, and remove them afterwards.

        The CLI may renew its login, which can end the old one. A renewed login is therefore put
        where the user's is, unless that has changed meanwhile.

        Args:
            login: The file of the login to copy; None copies none.
            name: What the copy is called.

        Raises:
            OSError: no folder can be made, or the login cannot be copied.
        """
        if self._root is None:
            raise OSError("the provider is closed")
        folder = Path(tempfile.mkdtemp(dir=self._root))
        try:
            place = Place(*(folder / name for name in ("config", "work", "home", "tmp")))
            for part in (place.config, place.work, place.home, place.tmp):
                part.mkdir(mode=0o700)
            if login is None:
                yield place
                return
            copy = place.config / name
            before = mark(login)
            _copy(login, copy)
            copied = mark(copy)
            try:
                yield place
            finally:
                if mark(copy) not in (copied, None) and mark(login) == before:
                    put_back(copy.read_bytes(), login)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def sweep(parent: Path) -> None:
    """Remove the folders of processes that died without doing so."""
    for root in parent.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            lock = os.open(root / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if root.lstat().st_uid == os.getuid():
                    shutil.rmtree(root, ignore_errors=True)
            finally:
                os.close(lock)


def mark(path: Path) -> tuple[int, int, int] | None:
    """Return what changes when a file is written; None when there is no file with content."""
    try:
        status = path.stat()
    except OSError:
        return None
    return (status.st_ino, status.st_mtime_ns, status.st_size) if status.st_size else None


def _copy(source: Path, target: Path) -> None:
    """Copy a file's bytes into a new file that only this user may read."""
    out = os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(out, "wb") as written, source.open("rb") as read:
        shutil.copyfileobj(read, written, _CHUNK)


def put_back(renewed: bytes, login: Path) -> None:
    """Put a login that a CLI has renewed where the user's is; it is replaced whole or not at all.

    A link stays a link. A home that cannot be written keeps the old one: neither could the CLI
    have done so.
    """
    target = login.resolve()
    partial = target.with_name(f"{target.name}.{os.getpid()}.new")
    try:
        out = os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(out, "wb") as written:
            written.write(renewed)
        partial.replace(target)
    except OSError:
        with contextlib.suppress(OSError):
            partial.unlink()
