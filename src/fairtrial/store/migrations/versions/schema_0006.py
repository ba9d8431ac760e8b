"""What the server keeps: keys, and the spans that sessions are made of."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0004"

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the new tables."""
    op.create_table(
        "api_key",
        sa.Column("id", _ID, nullable=False),
        sa.Column("ref", _TEXT, nullable=False),
        sa.Column("name", _TEXT, nullable=False),
        sa.Column("scope", _TEXT, nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("revoked_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("ref", name="api_key_ref"),
        sa.UniqueConstraint("digest", name="api_key_digest"),
    )
    op.create_table(
        "span_session",
        sa.Column("id", _ID, nullable=False),
        sa.Column("agent", _TEXT, nullable=False),
        sa.Column("native_id", _TEXT, nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("told", sa.BigInteger(), nullable=False),
        sa.Column("parts", sa.BigInteger(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("native_id", name="span_session_native"),
    )
    op.create_table(
        "span_trace",
        sa.Column("trace", _TEXT, nullable=False),
        sa.Column("session_id", _ID, nullable=False),
        sa.ForeignKeyConstraint(["session_id"], ["span_session.id"]),
        sa.PrimaryKeyConstraint("trace"),
    )
    op.create_index("span_trace_session", "span_trace", ["session_id"])
    op.create_table(
        "span_part",
        sa.Column("key", _TEXT, nullable=False),
        sa.Column("session_id", _ID, nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["session_id"], ["span_session.id"]),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_index("span_part_session", "span_part", ["session_id"])
