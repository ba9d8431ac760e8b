"""Eval tasks: each version whole, and which one a suite's task has now."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006b"

_TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the new tables."""
    op.create_table(
        "eval_task_version",
        sa.Column("digest", _TEXT, nullable=False),
        sa.Column("body", sa.LargeBinary()),
        sa.Column("blob", _TEXT),
        sa.Column("status", _TEXT, nullable=False),
        sa.Column("validation", sa.Text()),
        sa.Column("validated_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint("digest", name="eval_task_version_pk"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "eval_task",
        sa.Column("project", _TEXT, nullable=False),
        sa.Column("suite", _TEXT, nullable=False),
        sa.Column("name", _TEXT, nullable=False),
        sa.Column("digest", _TEXT, nullable=False),
        sa.Column("folder", sa.Text(), nullable=False),
        sa.Column("facts", sa.Text(), nullable=False),
        sa.Column("loaded_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("project", "suite", "name", name="eval_task_pk"),
        sqlite_with_rowid=False,
    )
