"""The table of reviews. What `tables` says holds here too."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Table, Text, UniqueConstraint, text

from fairtrial.store.suite_tables import metadata
from fairtrial.store.tables import ID, SORTED_TEXT

__all__ = ["metadata", "review"]

review = Table(
    "review",
    metadata,
    Column("id", ID, primary_key=True),
    Column("ref", SORTED_TEXT, nullable=False),
    Column("experiment", SORTED_TEXT, nullable=False),
    Column("name", SORTED_TEXT, nullable=False),
    Column("case_id", SORTED_TEXT, nullable=False),
    Column("condition", SORTED_TEXT, nullable=False),
    Column("arm", SORTED_TEXT, nullable=False),
    Column("reason", Text),
    Column("sent_at", BigInteger, nullable=False),
    Column("opinion", SORTED_TEXT),
    Column("note", Text),
    Column("settled_at", BigInteger),
    UniqueConstraint("ref", name="review_ref"),
    Index("review_waiting", "ref", sqlite_where=text("settled_at IS NULL")),
    Index("review_row", "experiment", "case_id", "condition", "arm"),
)
