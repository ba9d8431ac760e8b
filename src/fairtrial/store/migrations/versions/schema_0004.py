"""Captured sessions: their files, events, model calls and flags."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")
_PARTS = ("input", "output", "cache_read", "cache_write", "reasoning")


def upgrade() -> None:
    """Make the new tables."""
    _sessions()
    _session_bodies()
    _session_files()
    _session_chunks()
    _session_usages()
    _session_flags()


def _sessions() -> None:
    op.create_table(
        "session",
        sa.Column("id", _ID, nullable=False),
        sa.Column("ref", _TEXT, nullable=False),
        sa.Column("agent", _TEXT, nullable=False),
        sa.Column("agent_version", _TEXT),
        sa.Column("native_id", _TEXT, nullable=False),
        sa.Column("cwd", sa.Text()),
        sa.Column("repo", sa.Text()),
        sa.Column("branch", _TEXT),
        sa.Column("commit", _TEXT),
        sa.Column("models", sa.Text(), nullable=False),
        sa.Column("started_at", sa.BigInteger()),
        sa.Column("ended_at", sa.BigInteger()),
        sa.Column("sorted_at", sa.BigInteger(), nullable=False),
        sa.Column("state", _TEXT, nullable=False),
        sa.Column("turns", sa.Integer(), nullable=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("denials", sa.Integer(), nullable=False),
        sa.Column("changed_files", sa.Integer(), nullable=False),
        sa.Column("compactions", sa.Integer(), nullable=False),
        sa.Column("tokens_total", sa.BigInteger()),
        *(sa.Column(f"tokens_{part}", sa.BigInteger()) for part in _PARTS),
        sa.Column("cost_usd", sa.Float()),
        sa.Column("parent", _TEXT),
        sa.Column("relation", _TEXT),
        sa.Column("parser_version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("ref", name="session_ref"),
    )
    op.create_index("session_native", "session", ["native_id"])
    op.create_index(
        "session_parent", "session", ["parent"], sqlite_where=sa.text("parent IS NOT NULL")
    )
    op.create_index("session_sorted", "session", ["sorted_at", "id"])


def _session_bodies() -> None:
    op.create_table(
        "session_body",
        sa.Column("session_id", _ID, nullable=False, autoincrement=False),
        sa.Column("first_prompt", sa.Text()),
        sa.Column("final_text", sa.Text()),
        sa.Column("searched", sa.Text(), nullable=False),
        sa.Column("unread", sa.Text(), nullable=False),
        sa.Column("troubled", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["session_id"], ["session.id"]),
        sa.PrimaryKeyConstraint("session_id"),
    )
    op.create_index(
        "session_body_troubled", "session_body", ["session_id"], sqlite_where=sa.text("troubled")
    )


def _session_files() -> None:
    op.create_table(
        "session_file",
        sa.Column("id", _ID, nullable=False),
        sa.Column("path", _TEXT, nullable=False),
        sa.Column("session_id", _ID),
        sa.Column("inode", sa.BigInteger(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("changed_ns", sa.BigInteger(), nullable=False),
        sa.Column("offset", sa.BigInteger(), nullable=False),
        sa.Column("tail", sa.LargeBinary(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("repo", sa.Text()),
        sa.Column("facts", sa.LargeBinary()),
        sa.Column("state", sa.LargeBinary()),
        sa.Column("prompts", sa.Text()),
        sa.ForeignKeyConstraint(["session_id"], ["session.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("path", name="session_file_path"),
    )
    op.create_index("session_file_session", "session_file", ["session_id"])


def _session_chunks() -> None:
    op.create_table(
        "session_chunk",
        sa.Column("id", _ID, nullable=False),
        sa.Column("file_id", _ID, nullable=False),
        sa.Column("events", sa.Integer(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["file_id"], ["session_file.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("session_chunk_file", "session_chunk", ["file_id", "id"])


def _session_usages() -> None:
    op.create_table(
        "session_usage",
        sa.Column("key", _ID, nullable=False, autoincrement=False),
        sa.Column("file_id", _ID, nullable=False),
        sa.Column("at", sa.BigInteger()),
        sa.Column("model", _TEXT),
        *(sa.Column(part, sa.BigInteger()) for part in _PARTS),
        sa.Column("cost_usd", sa.Float()),
        sa.ForeignKeyConstraint(["file_id"], ["session_file.id"]),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_index("session_usage_file", "session_usage", ["file_id"])


def _session_flags() -> None:
    op.create_table(
        "session_flag",
        sa.Column("session_id", _ID, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", _TEXT, nullable=False),
        sa.Column("level", _TEXT, nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("evidence", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["session_id"], ["session.id"]),
        sa.PrimaryKeyConstraint("session_id", "position", name="session_flag_pk"),
        sqlite_with_rowid=False,
    )
    op.create_index("session_flag_name", "session_flag", ["name", "session_id"])
