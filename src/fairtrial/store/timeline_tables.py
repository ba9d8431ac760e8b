"""The tables of what spans several experiments. What `tables` says holds here too."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from fairtrial.store.tables import ID, SORTED_TEXT, metadata

__all__ = ["logbook", "logbook_entry", "metadata", "sweep", "tried"]

# Which configurations were tried on a dataset, and the first experiment that ran each.
tried = Table(
    "tried",
    metadata,
    Column("dataset", SORTED_TEXT, nullable=False),
    Column("digest", SORTED_TEXT, nullable=False),
    Column("first", SORTED_TEXT, nullable=False),
    PrimaryKeyConstraint("dataset", "digest", name="tried_pk"),
    sqlite_with_rowid=False,
)

# A race of configurations with what follows it; `ref` is that of the race's experiment.
sweep = Table(
    "sweep",
    metadata,
    Column("id", ID, primary_key=True),
    Column("ref", SORTED_TEXT, nullable=False),
    Column("dataset", SORTED_TEXT, nullable=False),
    Column("identity", SORTED_TEXT, nullable=False),
    Column("plan", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("result", Text),
    Column("adopted", SORTED_TEXT),
    Column("finished_at", BigInteger),
    UniqueConstraint("ref", name="sweep_ref"),
    Index("sweep_unfinished", "ref", sqlite_where=text("finished_at IS NULL")),
)

# The timeline of a project; the one without an end is open.
logbook = Table(
    "logbook",
    metadata,
    Column("id", ID, primary_key=True),
    Column("ref", SORTED_TEXT, nullable=False),
    Column("project", SORTED_TEXT, nullable=False),
    Column("name", SORTED_TEXT, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("closed_at", BigInteger),
    UniqueConstraint("ref", name="logbook_ref"),
    Index("logbook_project", "project", "ref"),
)

# A note, or the ref of an experiment that ran.
logbook_entry = Table(
    "logbook_entry",
    metadata,
    Column("id", ID, primary_key=True),
    Column("logbook_id", ID, ForeignKey("logbook.id"), nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("note", Text),
    Column("experiment", SORTED_TEXT),
    UniqueConstraint("logbook_id", "experiment", name="logbook_entry_experiment"),
)
