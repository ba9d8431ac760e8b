"""The tables of eval tasks. What `tables` says holds here too."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    Text,
)

from fairtrial.store.server_tables import metadata
from fairtrial.store.tables import SORTED_TEXT

__all__ = ["eval_task", "eval_task_version", "metadata"]

# One version of a task, whole; experiments name it by its digest, so that none is removed.
eval_task_version = Table(
    "eval_task_version",
    metadata,
    Column("digest", SORTED_TEXT, nullable=False),
    Column("body", LargeBinary),
    Column("blob", SORTED_TEXT),
    Column("status", SORTED_TEXT, nullable=False),
    Column("validation", Text),
    Column("validated_at", BigInteger),
    PrimaryKeyConstraint("digest", name="eval_task_version_pk"),
    sqlite_with_rowid=False,
)

# Which version a task of a suite has now. What its digest leaves out, such as tags, is in `facts`.
eval_task = Table(
    "eval_task",
    metadata,
    Column("project", SORTED_TEXT, nullable=False),
    Column("suite", SORTED_TEXT, nullable=False),
    Column("name", SORTED_TEXT, nullable=False),
    Column("digest", SORTED_TEXT, nullable=False),
    Column("folder", Text, nullable=False),
    Column("facts", Text, nullable=False),
    Column("loaded_at", BigInteger, nullable=False),
    PrimaryKeyConstraint("project", "suite", "name", name="eval_task_pk"),
    sqlite_with_rowid=False,
)
