"""Sweeps in the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Select, insert, select, text, update
from sqlalchemy.exc import IntegrityError

from fairtrial.model.errors import NotFoundError, StoreError
from fairtrial.model.json import Json
from fairtrial.model.sweep import Sweep
from fairtrial.store.codec import from_json, from_micros, to_json, to_micros
from fairtrial.store.database import Database
from fairtrial.store.timeline_tables import sweep

# Written as the partial index is, so that it is used.
_UNFINISHED = text("sweep.finished_at IS NULL")
_NEWEST_FIRST = select(sweep).order_by(sweep.c.ref.desc())


class SqlSweepStore:
    """The `SweepStore` of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, begun: Sweep) -> None:
        """Keep a sweep that begins; see `SweepStore`.

        Raises:
            StoreError: one of this id is kept already.
        """
        row = {
            "ref": begun.id,
            "dataset": begun.dataset,
            "identity": begun.identity,
            "plan": to_json(begun.plan).decode(),
            "created_at": to_micros(begun.created_at),
        }
        with self._database.write() as connection:
            try:
                connection.execute(insert(sweep), row)
            except IntegrityError as error:
                raise StoreError(f"there is a sweep {begun.id} already") from error

    def finish(
        self, sweep_id: str, result: Mapping[str, Json], adopted: str | None, now: datetime
    ) -> None:
        """Keep what a sweep came to; see `SweepStore`.

        Raises:
            NotFoundError: there is no such sweep.
        """
        told = {
            "result": to_json(result).decode(),
            "adopted": adopted,
            "finished_at": to_micros(now),
        }
        with self._database.write() as connection:
            statement = update(sweep).where(sweep.c.ref == sweep_id).values(told)
            if not connection.execute(statement).rowcount:
                raise NotFoundError(f"there is no sweep {sweep_id}")

    def get(self, sweep_id: str) -> Sweep | None:
        """Return the sweep whose race has this id; None when there is none."""
        return next(iter(self._found(_NEWEST_FIRST.where(sweep.c.ref == sweep_id))), None)

    def unfinished(self, identity: str | None = None) -> Sequence[Sweep]:
        """Return the sweeps that are not over, newest first; those of one identity."""
        statement = _NEWEST_FIRST.where(_UNFINISHED)
        if identity is not None:
            statement = statement.where(sweep.c.identity == identity)
        return self._found(statement)

    def adopting(self) -> Sequence[Sweep]:
        """Return the sweeps that adopted a configuration, newest first."""
        return self._found(_NEWEST_FIRST.where(sweep.c.adopted.is_not(None)))

    def _found(self, statement: Select[Any]) -> list[Sweep]:
        with self._database.read() as connection:
            return [_sweep(row) for row in connection.execute(statement)]


def _sweep(row: Any) -> Sweep:
    return Sweep(
        id=row.ref,
        dataset=row.dataset,
        identity=row.identity,
        plan=from_json(row.plan),
        created_at=from_micros(row.created_at),
        result=None if row.result is None else from_json(row.result),
        adopted=row.adopted,
        finished_at=None if row.finished_at is None else from_micros(row.finished_at),
    )
