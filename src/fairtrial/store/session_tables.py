"""The tables of captured sessions. What `tables` says holds here too."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from fairtrial.store.tables import ID, SORTED_TEXT, TOKEN_PARTS
from fairtrial.store.timeline_tables import metadata

__all__ = [
    "metadata",
    "session",
    "session_body",
    "session_chunk",
    "session_file",
    "session_flag",
    "session_usage",
    "snapshot",
]

# What is filtered and sorted; the texts are in `session_body`.
session = Table(
    "session",
    metadata,
    Column("id", ID, primary_key=True),
    Column("ref", SORTED_TEXT, nullable=False),
    Column("agent", SORTED_TEXT, nullable=False),
    Column("agent_version", SORTED_TEXT),
    Column("native_id", SORTED_TEXT, nullable=False),
    Column("cwd", Text),
    Column("repo", Text),
    Column("branch", SORTED_TEXT),
    Column("commit", SORTED_TEXT),
    # A JSON list, in the order they came.
    Column("models", Text, nullable=False),
    Column("started_at", BigInteger),
    Column("ended_at", BigInteger),
    # When it ended, else when it was read: every session has a place in lists.
    Column("sorted_at", BigInteger, nullable=False),
    Column("state", SORTED_TEXT, nullable=False),
    Column("turns", Integer, nullable=False),
    Column("calls", Integer, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("denials", Integer, nullable=False),
    Column("changed_files", Integer, nullable=False),
    Column("compactions", Integer, nullable=False),
    Column("tokens_total", BigInteger),
    *(Column(f"tokens_{part}", BigInteger) for part in TOKEN_PARTS),
    Column("cost_usd", Float),
    Column("parent", SORTED_TEXT),
    Column("relation", SORTED_TEXT),
    Column("parser_version", Integer, nullable=False),
    UniqueConstraint("ref", name="session_ref"),
    Index("session_sorted", "sorted_at", "id"),
    Index("session_native", "native_id"),
    Index("session_parent", "parent", sqlite_where=text("parent IS NOT NULL")),
)

# `searched` is what a search looks through: prompts and the final text, without case.
session_body = Table(
    "session_body",
    metadata,
    Column("session_id", ID, ForeignKey("session.id"), primary_key=True, autoincrement=False),
    Column("first_prompt", Text),
    Column("final_text", Text),
    Column("searched", Text, nullable=False),
    Column("unread", Text, nullable=False),
    Column("troubled", Boolean, nullable=False),
    Index("session_body_troubled", "session_id", sqlite_where=text("troubled")),
)

# A file stays when its session is removed (offset -1), so that it is not read again.
session_file = Table(
    "session_file",
    metadata,
    Column("id", ID, primary_key=True),
    Column("path", SORTED_TEXT, nullable=False),
    Column("session_id", ID, ForeignKey("session.id")),
    Column("inode", BigInteger, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("changed_ns", BigInteger, nullable=False),
    Column("offset", BigInteger, nullable=False),
    Column("tail", LargeBinary, nullable=False),
    Column("version", Integer, nullable=False),
    Column("repo", Text),
    Column("facts", LargeBinary),
    Column("state", LargeBinary),
    Column("prompts", Text),
    UniqueConstraint("path", name="session_file_path"),
    Index("session_file_session", "session_id"),
)

# The events of a file, in runs.
session_chunk = Table(
    "session_chunk",
    metadata,
    Column("id", ID, primary_key=True),
    Column("file_id", ID, ForeignKey("session_file.id"), nullable=False),
    Column("events", Integer, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("data", LargeBinary, nullable=False),
    Index("session_chunk_file", "file_id", "id"),
)

# The tokens of each model call once, whichever files tell of it; the key is a hash of its id.
session_usage = Table(
    "session_usage",
    metadata,
    Column("key", ID, primary_key=True, autoincrement=False),
    Column("file_id", ID, ForeignKey("session_file.id"), nullable=False),
    Column("at", BigInteger),
    Column("model", SORTED_TEXT),
    *(Column(part, BigInteger) for part in TOKEN_PARTS),
    Column("cost_usd", Float),
    Index("session_usage_file", "file_id"),
)

session_flag = Table(
    "session_flag",
    metadata,
    Column("session_id", ID, ForeignKey("session.id"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("name", SORTED_TEXT, nullable=False),
    Column("level", SORTED_TEXT, nullable=False),
    Column("summary", Text, nullable=False),
    Column("evidence", Text, nullable=False),
    Column("detail", Text, nullable=False),
    PrimaryKeyConstraint("session_id", "position", name="session_flag_pk"),
    Index("session_flag_name", "name", "session_id"),
    sqlite_with_rowid=False,
)

# What repositories held at moments of sessions; a session may not be read yet, or never.
snapshot = Table(
    "snapshot",
    metadata,
    Column("id", ID, primary_key=True),
    Column("ref", SORTED_TEXT, nullable=False),
    Column("agent", SORTED_TEXT, nullable=False),
    Column("native_id", SORTED_TEXT, nullable=False),
    Column("moment", SORTED_TEXT, nullable=False),
    Column("taken_at", BigInteger, nullable=False),
    # A JSON object: all the rest.
    Column("body", Text, nullable=False),
    UniqueConstraint("ref", name="snapshot_ref"),
    Index("snapshot_session", "native_id", "agent", "ref"),
)
