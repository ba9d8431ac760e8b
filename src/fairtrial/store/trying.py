"""Which configurations were tried on a dataset: each is counted once."""

from __future__ import annotations

from sqlalchemy import Connection, func, select

from fairtrial.model.experiment import Experiment
from fairtrial.store.database import Database
from fairtrial.store.prepared import upsert_of
from fairtrial.store.timeline_tables import tried


def note_tried(connection: Connection, opened: Experiment) -> None:
    """Count what an experiment tries; what was tried before stays as it is."""
    rows = [
        {"dataset": opened.dataset, "digest": digest, "first": opened.id}
        for digest in opened.configurations
    ]
    if rows:
        statement = upsert_of(connection.dialect, tried)
        connection.execute(
            statement.on_conflict_do_nothing(index_elements=["dataset", "digest"]), rows
        )


def n_tried(database: Database, dataset: str) -> int:
    """Return how many configurations were tried on any version of a dataset."""
    statement = select(func.count()).select_from(tried).where(tried.c.dataset == dataset)
    with database.read() as connection:
        return int(connection.execute(statement).scalar_one())
