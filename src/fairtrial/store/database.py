"""Connections and transactions: short writes under the write lock, reads that never wait for it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.engine.interfaces import DBAPIConnection, DBAPICursor

from fairtrial.store.failures import moved_away, translated

WRITES = "fairtrial_writes"
"""Execution option of a connection whose transactions take the write lock at once."""

_PATIENCE_MS = 1_000
"""How long the emptying of the log waits for others."""
_BEGIN_WRITE = "BEGIN IMMEDIATE"
# Pages of the log that are copied into the file at once (32 MB): each copy waits for the disk.
_CHECKPOINT_PAGES = 8_000


class Database:
    """One SQLite file, used by any number of threads and processes.

    Each transaction has a connection of its own from a pool, so a reader on one thread and a
    writer on another do not meet. Every failure leaves as a `StoreError`.
    """

    def __init__(self, path: Path, busy_timeout_s: float) -> None:
        self.path = path
        self.engine = _engine(path, busy_timeout_s)
        self._file: tuple[int, int] | None = None
        event.listen(self.engine, "begin", self._begin)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Give a connection inside a transaction that sees one state of the store.

        Raises:
            StoreError: the store cannot be read.
        """
        with translated(self.path), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def write(self, *, references: bool = True) -> Iterator[Connection]:
        """Give a connection that holds the write lock; all of it is committed, or nothing.

        Args:
            references: Whether references between tables are checked. A migration that builds a
                table anew must not delete what refers to it.

        Raises:
            StoreError: the store cannot be written.
        """
        with translated(self.path), self.engine.connect() as connection:
            if not references:
                # It has no effect inside a transaction, so the driver's connection is told.
                connection.connection.cursor().execute("PRAGMA foreign_keys = OFF")
                connection.detach()
            connection.execution_options(**{WRITES: True})
            with connection.begin():
                yield connection

    @contextmanager
    def read_fast(self) -> Iterator[DBAPICursor]:
        """Give the driver's own cursor inside a transaction as of `read`, for `Prepared`.

        Raises:
            StoreError: the store cannot be read.
        """
        with translated(self.path):
            self._check_file()
            connection = self.engine.raw_connection()
            try:
                cursor = connection.cursor()
                cursor.execute("BEGIN")
                yield cursor
                connection.commit()
            finally:
                connection.close()

    @contextmanager
    def write_fast(self) -> Iterator[DBAPICursor]:
        """Give the driver's own cursor inside a transaction as of `write`, for `Prepared`.

        It leaves out SQLAlchemy's bookkeeping, which takes as long as recording a trial.

        Raises:
            StoreError: the store cannot be written.
        """
        with translated(self.path):
            self._check_file()
            connection = self.engine.raw_connection()
            try:
                cursor = connection.cursor()
                cursor.execute(_BEGIN_WRITE)
                yield cursor
                connection.commit()
            finally:
                # The pool rolls back what was not committed.
                connection.close()

    def empty_log(self, *, anew: bool = False) -> bool:
        """Move the log into the file and cut it to nothing, so that no remains stay in it.

        Args:
            anew: Write the file anew before, without the pages that are free.

        Returns:
            Whether it was done: whoever reads or writes meanwhile is not waited for for long.

        Raises:
            StoreError: the disk failed or is full.
        """
        with translated(self.path):
            connection = self.engine.raw_connection()
            try:
                # Not given back to the pool: it has no patience.
                connection.detach()
                return _emptied(connection.cursor(), anew=anew)
            finally:
                connection.close()

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()

    def _begin(self, connection: Connection) -> None:
        self._check_file()
        writes = connection.get_execution_options().get(WRITES, False)
        # A transaction that read before it wrote could meet another writer and fail at once,
        # without waiting; one that begins with the lock waits its turn.
        connection.exec_driver_sql(_BEGIN_WRITE if writes else "BEGIN")

    def _check_file(self) -> None:
        """Look whether the file is still the one that the connections have open.

        SQLite goes on writing into a file that was deleted, and says nothing.

        Raises:
            StoreError: it is gone, or another one has its name.
        """
        try:
            status = self.path.stat()
            found = (status.st_dev, status.st_ino)
        except FileNotFoundError:
            found = None
        if found != self._file:
            if self._file is not None:
                raise moved_away(self.path)
            self._file = found  # none yet: the first connection makes it


def _emptied(cursor: DBAPICursor, *, anew: bool) -> bool:
    cursor.execute(f"PRAGMA busy_timeout = {_PATIENCE_MS}")
    try:
        if anew:
            cursor.execute("VACUUM")
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return False
        raise
    (busy, *_) = cursor.fetchone() or (1,)
    return not busy


def _engine(path: Path, busy_timeout_s: float) -> Engine:
    engine = create_engine(
        URL.create("sqlite", database=str(path)), connect_args={"timeout": busy_timeout_s}
    )
    event.listen(engine, "connect", _prepare)
    return engine


def _prepare(connection: DBAPIConnection, _record: Any) -> None:
    # The driver would begin transactions by itself, too late and without the write lock.
    connection.isolation_level = None
    configure(connection)


def configure(connection: DBAPIConnection | sqlite3.Connection) -> None:
    """Set what SQLite keeps for a connection only, and the log mode that it keeps in the file."""
    cursor = connection.cursor()
    for pragma in (
        "journal_mode = WAL",
        "synchronous = NORMAL",
        "foreign_keys = ON",
        # What is deleted or replaced is overwritten: it may have been somebody's secret.
        "secure_delete = ON",
        f"wal_autocheckpoint = {_CHECKPOINT_PAGES}",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()
