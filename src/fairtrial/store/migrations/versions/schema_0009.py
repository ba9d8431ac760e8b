"""What other programs report: receipts and projects; keys that are for one project."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the new tables and the new column."""
    op.create_table(
        "receipt",
        sa.Column("scope", _TEXT, nullable=False),
        sa.Column("key", _TEXT, nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("kept_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("scope", "key", name="receipt_pk"),
        sqlite_with_rowid=False,
    )
    op.create_index("receipt_kept", "receipt", ["kept_at"])
    op.create_table(
        "project",
        sa.Column("id", _ID, nullable=False),
        sa.Column("ref", _TEXT, nullable=False),
        sa.Column("name", _TEXT, nullable=False),
        sa.Column("folder", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("ref", name="project_ref"),
        sa.UniqueConstraint("name", name="project_name"),
    )
    op.add_column("api_key", sa.Column("project", _TEXT))
