"""SQL that is compiled once from a Core statement and then run by the driver itself.

SQLAlchemy's own execution costs more per row than the insert; this is for the hot path only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Dialect, Table
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine.interfaces import DBAPICursor
from sqlalchemy.sql import ClauseElement
from sqlalchemy.sql.compiler import SQLCompiler

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql


class Prepared:
    """One statement whose parameters are a tuple in the order of `names`."""

    def __init__(self, statement: ClauseElement, dialect: Dialect, names: Sequence[str]) -> None:
        compiled = statement.compile(dialect=dialect, column_keys=names)
        order = compiled.positiontup if isinstance(compiled, SQLCompiler) else None
        # A column default or a repeated parameter would shift every value after it.
        if order != list(names):
            raise TypeError(f"the parameters are {order}, not {names}")
        self._sql = str(compiled)

    def run(self, cursor: DBAPICursor, parameters: Sequence[Any]) -> None:
        """Run it once."""
        cursor.execute(self._sql, parameters)

    def run_many(self, cursor: DBAPICursor, parameters: Sequence[Sequence[Any]]) -> None:
        """Run it once for each tuple."""
        if parameters:
            cursor.executemany(self._sql, parameters)

    def first(self, cursor: DBAPICursor, parameters: Sequence[Any]) -> Any:
        """Run it and return the first row, or None."""
        cursor.execute(self._sql, parameters)
        return cursor.fetchone()

    def all(self, cursor: DBAPICursor, parameters: Sequence[Any]) -> Sequence[Any]:
        """Run it and return every row."""
        cursor.execute(self._sql, parameters)
        return cursor.fetchall()


def upsert_of(dialect: Dialect, table: Table) -> sqlite.Insert | postgresql.Insert:
    """Return an insert that takes `on_conflict_do_update` and `on_conflict_do_nothing`."""
    if dialect.name == "postgresql":
        from sqlalchemy.dialects.postgresql import (  # noqa: PLC0415  # 23 ms that SQLite spares
            insert,
        )

        return insert(table)
    return sqlite.insert(table)
