"""The one place where a failure of the database or the disk becomes a `StoreError`."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from fairtrial.model.errors import StoreError

_DISK_FULL = ("the disk is full", "free some space, then run the command again; nothing is lost")
_NO_ACCESS = (
    "the store may not be read or written here",
    "check the owner and the permissions of the folder, or set FAIRTRIAL_HOME to another one",
)
_LOCKED = (
    "the store stayed locked by another process for too long",
    "wait for the other process or stop it, then run the command again",
)
_DAMAGED = (
    "the store is damaged",
    "move it away and put a backup in its place, or save what is left with `sqlite3 FILE .recover`",
)
_NO_DATABASE = (
    "the file is not a fairtrial store",
    "move it away, or set FAIRTRIAL_HOME to another folder",
)
_MOVED = (
    "the file of the store is gone, or was replaced, since it was opened",
    "put it back, or start again with the one that is there now",
)
_UNUSABLE = (
    "the disk failed",
    "check the disk and the system's log, then run the command again",
)

_NO_FOLDER = (
    "the store cannot be here",
    "set FAIRTRIAL_HOME to a folder, or to a place where one can be made",
)

# SQLite's primary result codes: https://www.sqlite.org/rescode.html
_OF_SQLITE = {
    sqlite3.SQLITE_PERM: _NO_ACCESS,
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_READONLY: _NO_ACCESS,
    sqlite3.SQLITE_IOERR: _UNUSABLE,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_FULL: _DISK_FULL,
    sqlite3.SQLITE_CANTOPEN: _NO_ACCESS,
    sqlite3.SQLITE_NOTADB: _NO_DATABASE,
}
_OF_ERRNO = {
    errno.ENOSPC: _DISK_FULL,
    errno.EDQUOT: _DISK_FULL,
    errno.EIO: _UNUSABLE,
    errno.EEXIST: _NO_FOLDER,
    errno.ENAMETOOLONG: _NO_FOLDER,
    errno.ENOENT: _NO_FOLDER,
    errno.ENOTDIR: _NO_FOLDER,
}


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn failures of the database at `path`, or of a file of it, into a `StoreError`.

    What can only be a defect of this package (a broken constraint, bad SQL) passes unchanged.
    """
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        told = _OF_SQLITE.get(getattr(cause, "sqlite_errorcode", 0) & 0xFF)
        if told is None:
            raise
        raise _error(path, told, str(cause)) from error
    except PoolTimeout as error:
        raise _error(path, _LOCKED, "every connection of this process is in use") from error
    except OSError as error:
        where = Path(error.filename) if isinstance(error.filename, str) else path
        told = _OF_ERRNO.get(error.errno or 0, _NO_ACCESS)
        raise _error(where, told, error.strerror or str(error)) from error


def not_a_store(path: Path, why: str) -> StoreError:
    """Return the error of a file that is a database, but not one of fairtrial's."""
    return _error(path, _NO_DATABASE, why)


def damaged(path: Path, why: str) -> StoreError:
    """Return the error of a store whose content is not what was written."""
    return _error(path, _DAMAGED, why)


def moved_away(path: Path) -> StoreError:
    """Return the error of a store whose file is not the one any more that was opened."""
    return _error(path, _MOVED, "another file has its name" if path.exists() else "no file is here")


def _error(path: Path, told: tuple[str, str], why: str) -> StoreError:
    what, fix = told
    return StoreError(what, where=str(path), why=why, fix=fix)
