"""Logbooks in the database."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, insert, or_, select, update
from ulid import ULID

from fairtrial.model.errors import NotFoundError
from fairtrial.model.logbook import Logbook, LogbookEntry
from fairtrial.store.codec import from_micros, to_micros, to_text
from fairtrial.store.database import Database
from fairtrial.store.timeline_tables import logbook, logbook_entry


class SqlLogbookStore:
    """The `LogbookStore` of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def open(self, project: str, name: str, now: datetime) -> Logbook:
        """Open a logbook of a project, and close the one that was open."""
        opened = Logbook(f"log_{ULID()}", project, name, now)
        still_open = (logbook.c.project == to_text(project)) & logbook.c.closed_at.is_(None)
        with self._database.write() as connection:
            closed = update(logbook).where(still_open).values(closed_at=to_micros(now))
            connection.execute(closed)
            row = {
                "ref": opened.id,
                "project": to_text(project),
                "name": to_text(name),
                "created_at": to_micros(now),
            }
            connection.execute(insert(logbook), row)
        return opened

    def current(self, project: str) -> Logbook | None:
        """Return the open logbook of a project; None when none is."""
        is_open = (logbook.c.project == to_text(project)) & logbook.c.closed_at.is_(None)
        return self._newest(select(logbook).where(is_open))

    def named(self, project: str, name: str) -> Logbook | None:
        """Return the newest logbook of a project with a name, or with an id; None without one."""
        fits = or_(logbook.c.name == to_text(name), logbook.c.ref == to_text(name))
        return self._newest(select(logbook).where(logbook.c.project == to_text(project), fits))

    def note(self, logbook_id: str, text: str, now: datetime) -> None:
        """Add a note; see `LogbookStore`.

        Raises:
            NotFoundError: there is no such logbook.
        """
        with self._database.write() as connection:
            number = _number(connection, logbook_id)
            row = {"logbook_id": number, "at": to_micros(now), "note": to_text(text)}
            connection.execute(insert(logbook_entry), row)

    def add_run(self, logbook_id: str, experiment_id: str, now: datetime) -> None:
        """Add a run; see `LogbookStore`.

        Raises:
            NotFoundError: there is no such logbook.
        """
        with self._database.write() as connection:
            number = _number(connection, logbook_id)
            there = select(logbook_entry.c.id).where(
                logbook_entry.c.logbook_id == number, logbook_entry.c.experiment == experiment_id
            )
            if connection.execute(there).first() is None:
                row = {"logbook_id": number, "at": to_micros(now), "experiment": experiment_id}
                connection.execute(insert(logbook_entry), row)

    def entries(self, logbook_id: str) -> Sequence[LogbookEntry]:
        """Return the entries of a logbook, oldest first.

        Raises:
            NotFoundError: there is no such logbook.
        """
        with self._database.read() as connection:
            number = _number(connection, logbook_id)
            statement = (
                select(logbook_entry)
                .where(logbook_entry.c.logbook_id == number)
                .order_by(logbook_entry.c.id)
            )
            return [
                LogbookEntry(from_micros(row.at), row.note, row.experiment)
                for row in connection.execute(statement)
            ]

    def _newest(self, statement: Select[Any]) -> Logbook | None:
        with self._database.read() as connection:
            newest = statement.order_by(logbook.c.id.desc()).limit(1)
            row = connection.execute(newest).one_or_none()
        if row is None:
            return None
        closed_at = None if row.closed_at is None else from_micros(row.closed_at)
        created_at = from_micros(row.created_at)
        return Logbook(row.ref, row.project, row.name, created_at, closed_at)


def _number(connection: Connection, logbook_id: str) -> int:
    found = connection.execute(
        select(logbook.c.id).where(logbook.c.ref == logbook_id)
    ).scalar_one_or_none()
    if found is None:
        raise NotFoundError(f"there is no logbook {logbook_id}")
    return int(found)
