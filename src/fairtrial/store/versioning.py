"""Making the database, and bringing an older one up to date.

Alembic, half a second of imports, is needed only when there is something to migrate.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, inspect, select

from fairtrial.model.errors import StoreError
from fairtrial.store.database import Database
from fairtrial.store.failures import damaged, not_a_store
from fairtrial.store.report_tables import metadata  # with those tables, and all others
from fairtrial.store.tables import SCHEMA_VERSION, schema_version

MIGRATIONS = Path(__file__).parent / "migrations"

# A database that has the table of versions and nothing in it.
_NO_VERSION = "0000"


def create(path: Path) -> None:
    """Make the database file, unless it is there.

    It is made aside and put in its place whole: no process ever sees half a schema, and two that
    start at once do not fail over who switches the log mode.
    """
    if path.exists():
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.urandom(8).hex()}.partial")
    try:
        database = Database(partial, busy_timeout_s=1)
        with closing(database):
            _make_tables(database)
        _put(partial, path)
    finally:
        for suffix in ("", "-wal", "-shm"):
            partial.with_name(partial.name + suffix).unlink(missing_ok=True)


def _put(partial: Path, path: Path) -> None:
    """Give a finished file its name, unless another process was faster: its file is as good."""
    try:
        path.hardlink_to(partial)
    except FileExistsError:
        pass
    except OSError:
        # A file system without links; there, the slower process wins.
        partial.replace(path)


def ensure_current(database: Database, migrations: Path = MIGRATIONS) -> None:
    """Migrate an older database after a copy was made of it.

    Raises:
        StoreError: the database is newer than this program, or not one of fairtrial's.
    """
    with database.read() as connection:
        version = _version(connection)
    if version is None:
        if _is_empty(database):
            _make_tables(database)
            return
        raise not_a_store(database.path, "it is the database of another program")
    if version > SCHEMA_VERSION:
        raise _newer(database, version)
    if version < SCHEMA_VERSION:
        _migrate(database, migrations)


def check_version(database: Database) -> None:
    """Look whether a store that was opened is still of a schema that this program knows.

    Raises:
        StoreError: a newer program has migrated it meanwhile.
    """
    with database.read() as connection:
        version = connection.execute(select(schema_version)).scalar_one_or_none()
    if version is not None and version > SCHEMA_VERSION:
        raise _newer(database, version)


def _newer(database: Database, version: str) -> StoreError:
    return StoreError(
        "the store was written by a newer fairtrial",
        where=str(database.path),
        why=f"its schema is {version}; this program knows up to {SCHEMA_VERSION}",
        fix="upgrade with `pip install --upgrade fairtrial`, or set FAIRTRIAL_HOME to "
        "another folder",
    )


def _version(connection: Connection) -> str | None:
    """Return the schema's version; None when the database has no table of versions."""
    known = connection.exec_driver_sql(
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'alembic_version'"
    )
    if known.first() is None:
        return None
    return connection.execute(select(schema_version)).scalar_one_or_none() or _NO_VERSION


def _is_empty(database: Database) -> bool:
    with database.read() as connection:
        return not inspect(connection).get_table_names()


def _make_tables(database: Database) -> None:
    with database.write() as connection:
        # Another process may have waited for the lock before.
        if _version(connection) is None:
            metadata.create_all(connection)
            connection.execute(schema_version.insert().values(version_num=SCHEMA_VERSION))


def _migrate(database: Database, migrations: Path) -> None:
    from fairtrial.store.migrating import upgrade  # noqa: PLC0415  # Alembic takes 0.4 s

    with database.write(references=False) as connection:
        version = _version(connection)
        if version == SCHEMA_VERSION:
            return  # Another process was faster.
        _back_up(database.path, version or _NO_VERSION)
        upgrade(connection, migrations)
        broken = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
        if broken:
            raise damaged(database.path, f"{len(broken)} references lead nowhere")


def _back_up(path: Path, version: str) -> Path:
    """Copy the database as it was before the open transaction."""
    copy = path.with_name(f"{path.name}.schema-{version}.backup")
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
    return copy
