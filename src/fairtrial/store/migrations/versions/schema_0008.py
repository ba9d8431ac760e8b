"""Rows that wait for a person's look."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the new table."""
    op.create_table(
        "review",
        sa.Column("id", _ID, nullable=False),
        sa.Column("ref", _TEXT, nullable=False),
        sa.Column("experiment", _TEXT, nullable=False),
        sa.Column("name", _TEXT, nullable=False),
        sa.Column("case_id", _TEXT, nullable=False),
        sa.Column("condition", _TEXT, nullable=False),
        sa.Column("arm", _TEXT, nullable=False),
        sa.Column("reason", sa.Text()),
        sa.Column("sent_at", sa.BigInteger(), nullable=False),
        sa.Column("opinion", _TEXT),
        sa.Column("note", sa.Text()),
        sa.Column("settled_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("ref", name="review_ref"),
    )
    op.create_index("review_waiting", "review", ["ref"], sqlite_where=sa.text("settled_at IS NULL"))
    op.create_index("review_row", "review", ["experiment", "case_id", "condition", "arm"])
