"""Snapshots of repositories, taken while sessions went on."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006b"
down_revision = "0006"

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the new table."""
    op.create_table(
        "snapshot",
        sa.Column("id", _ID, nullable=False),
        sa.Column("ref", _TEXT, nullable=False),
        sa.Column("agent", _TEXT, nullable=False),
        sa.Column("native_id", _TEXT, nullable=False),
        sa.Column("moment", _TEXT, nullable=False),
        sa.Column("taken_at", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("ref", name="snapshot_ref"),
    )
    op.create_index("snapshot_session", "snapshot", ["native_id", "agent", "ref"])
