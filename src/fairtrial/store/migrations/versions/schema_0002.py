"""Model calls, kept answers, what grading cost and what was served again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the new tables and columns.

    Columns are added in place: a table of trials may hold millions.
    """
    op.add_column("trial", sa.Column("grading_cost_usd", sa.Float()))
    op.add_column("trial", sa.Column("reused", sa.Text()))
    _tallies()
    _calls()
    _pieces()
    _answers()
    # Judges of pairs kept their answers here, by another question than they ask now.
    op.execute("DELETE FROM setting WHERE key LIKE 'pairwise:%'")


def _tallies() -> None:
    zero = sa.text("0")
    op.add_column(
        "tally", sa.Column("grading_cost_usd", sa.Float(), nullable=False, server_default=zero)
    )
    op.add_column(
        "tally", sa.Column("grading_costed", sa.Integer(), nullable=False, server_default=zero)
    )
    op.create_table(
        "reuse_tally",
        sa.Column("experiment_id", _ID, nullable=False),
        sa.Column("source", _TEXT, nullable=False),
        sa.Column("trials", sa.Integer(), nullable=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.Column("tokened", sa.Integer(), nullable=False),
        sa.Column("cost_usd", sa.Float(), nullable=False),
        sa.Column("costed", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["experiment_id"], ["experiment.id"]),
        sa.PrimaryKeyConstraint("experiment_id", "source", name="reuse_tally_pk"),
        sqlite_with_rowid=False,
    )


def _calls() -> None:
    op.create_table(
        "model_call",
        sa.Column("id", _ID, nullable=False),
        sa.Column("ref", _TEXT, nullable=False),
        sa.Column("session", _TEXT),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("api", _TEXT),
        sa.Column("method", _TEXT, nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("upstream", sa.Text(), nullable=False),
        sa.Column("model", _TEXT),
        sa.Column("status", sa.Integer()),
        sa.Column("problem", sa.Text()),
        sa.Column("failed", sa.Boolean(), nullable=False),
        sa.Column("streamed", sa.Boolean(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("first_byte_s", sa.Float()),
        sa.Column("duration_s", sa.Float(), nullable=False),
        sa.Column("has_tokens", sa.Boolean(), nullable=False),
        sa.Column("tokens_input", sa.BigInteger()),
        sa.Column("tokens_output", sa.BigInteger()),
        sa.Column("tokens_cache_read", sa.BigInteger()),
        sa.Column("tokens_cache_write", sa.BigInteger()),
        sa.Column("tokens_reasoning", sa.BigInteger()),
        sa.Column("cost_usd", sa.Float()),
        sa.Column("canonical", _TEXT),
        sa.Column("served_from", _TEXT),
        sa.Column("agent", _TEXT),
        sa.Column("experiment", _TEXT),
        sa.Column("case_id", _TEXT),
        sa.Column("condition", _TEXT),
        sa.Column("arm", _TEXT),
        sa.Column("trial", sa.Integer()),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("ref", name="model_call_ref"),
    )
    op.create_index("model_call_failed", "model_call", ["ref"], sqlite_where=sa.text("failed"))
    op.create_index("model_call_started", "model_call", ["started_at"])
    op.create_index(
        "model_call_session",
        "model_call",
        ["session", "number"],
        sqlite_where=sa.text("session IS NOT NULL"),
    )
    op.create_index(
        "model_call_trial",
        "model_call",
        ["experiment", "case_id", "condition", "arm", "trial", "number"],
        sqlite_where=sa.text("experiment IS NOT NULL"),
    )
    op.create_table(
        "model_call_body",
        sa.Column("call_id", _ID, autoincrement=False, nullable=False),
        sa.Column("headers", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["call_id"], ["model_call.id"]),
        sa.PrimaryKeyConstraint("call_id"),
    )


def _pieces() -> None:
    op.create_table(
        "piece",
        sa.Column("id", _ID, nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("inline", sa.LargeBinary()),
        sa.Column("blob", sa.String()),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("digest", name="piece_digest"),
    )
    op.create_table(
        "call_piece",
        sa.Column("call_id", _ID, nullable=False),
        sa.Column("part", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("piece_id", _ID, nullable=False),
        sa.ForeignKeyConstraint(["call_id"], ["model_call.id"]),
        sa.ForeignKeyConstraint(["piece_id"], ["piece.id"]),
        sa.PrimaryKeyConstraint("call_id", "part", "position", name="call_piece_pk"),
        sqlite_with_rowid=False,
    )
    op.create_index("call_piece_piece", "call_piece", ["piece_id"])


def _answers() -> None:
    op.create_table(
        "kept_answer",
        sa.Column("id", _ID, nullable=False),
        sa.Column("key", _TEXT, nullable=False),
        sa.Column("provider", _TEXT, nullable=False),
        sa.Column("model", _TEXT, nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("used_at", sa.BigInteger(), nullable=False),
        sa.Column("inline", sa.LargeBinary()),
        sa.Column("blob", sa.String()),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key", name="kept_answer_key"),
    )
    op.create_index("kept_answer_used", "kept_answer", ["used_at"])
