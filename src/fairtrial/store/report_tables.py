"""The tables of what other programs report. What `tables` says holds here too."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Index,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
)

from fairtrial.store.review_tables import metadata
from fairtrial.store.tables import ID, SORTED_TEXT

__all__ = ["metadata", "project", "receipt"]

# What was answered to a request, so that the same one sent again is known.
receipt = Table(
    "receipt",
    metadata,
    # The id of the experiment that it writes to; the empty text for what opens one.
    Column("scope", SORTED_TEXT, nullable=False),
    Column("key", SORTED_TEXT, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("answer", Text, nullable=False),
    Column("kept_at", BigInteger, nullable=False),
    PrimaryKeyConstraint("scope", "key", name="receipt_pk"),
    Index("receipt_kept", "kept_at"),
    sqlite_with_rowid=False,
)

project = Table(
    "project",
    metadata,
    Column("id", ID, primary_key=True),
    Column("ref", SORTED_TEXT, nullable=False),
    Column("name", SORTED_TEXT, nullable=False),
    Column("folder", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    UniqueConstraint("ref", name="project_ref"),
    UniqueConstraint("name", name="project_name"),
)
