"""Series, configurations that were tried, sweeps and logbooks."""

from __future__ import annotations

import hashlib
import json
import posixpath
from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the new tables and columns, and count what earlier experiments tried."""
    op.add_column("experiment", sa.Column("series", _TEXT))
    op.create_index(
        "experiment_series",
        "experiment",
        ["series", "ref"],
        sqlite_where=sa.text("series IS NOT NULL"),
    )
    _tried()
    _sweeps()
    _logbooks()


def _tried() -> None:
    tried = op.create_table(
        "tried",
        sa.Column("dataset", _TEXT, nullable=False),
        sa.Column("digest", _TEXT, nullable=False),
        sa.Column("first", _TEXT, nullable=False),
        sa.PrimaryKeyConstraint("dataset", "digest", name="tried_pk"),
        sqlite_with_rowid=False,
    )
    found = op.get_bind().execute(sa.text("SELECT dataset, ref, spec FROM experiment ORDER BY ref"))
    first: dict[tuple[str, str], str] = {}
    for dataset, ref, spec in found:
        for digest in _digests(json.loads(spec)):
            first.setdefault((dataset, digest), ref)
    rows = [{"dataset": d, "digest": h, "first": ref} for (d, h), ref in first.items()]
    if rows:
        op.bulk_insert(tried, rows)


def _digests(spec: dict[str, object]) -> Iterator[str]:
    """Yield the hash of each task of a run, as the program at this schema makes it."""
    arms = spec.get("arms")
    if "regrade_of" in spec or "metrics" in spec or not isinstance(arms, dict):
        return
    for task in arms.values():
        where = posixpath.join(str(spec.get("base_dir", "")), str(task.get("cwd") or ""))
        value = {"task": {**task, "cwd": posixpath.normpath(where)}, "script": None}
        text = json.dumps(
            value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
        )
        yield hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _sweeps() -> None:
    op.create_table(
        "sweep",
        sa.Column("id", _ID, nullable=False),
        sa.Column("ref", _TEXT, nullable=False),
        sa.Column("dataset", _TEXT, nullable=False),
        sa.Column("identity", _TEXT, nullable=False),
        sa.Column("plan", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("result", sa.Text()),
        sa.Column("adopted", _TEXT),
        sa.Column("finished_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("ref", name="sweep_ref"),
    )
    op.create_index(
        "sweep_unfinished", "sweep", ["ref"], sqlite_where=sa.text("finished_at IS NULL")
    )


def _logbooks() -> None:
    op.create_table(
        "logbook",
        sa.Column("id", _ID, nullable=False),
        sa.Column("ref", _TEXT, nullable=False),
        sa.Column("project", _TEXT, nullable=False),
        sa.Column("name", _TEXT, nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("closed_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("ref", name="logbook_ref"),
    )
    op.create_index("logbook_project", "logbook", ["project", "ref"])
    op.create_table(
        "logbook_entry",
        sa.Column("id", _ID, nullable=False),
        sa.Column("logbook_id", _ID, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("note", sa.Text()),
        sa.Column("experiment", _TEXT),
        sa.ForeignKeyConstraint(["logbook_id"], ["logbook.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("logbook_id", "experiment", name="logbook_entry_experiment"),
    )
