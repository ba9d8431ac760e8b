"""The tables of what the server keeps. What `tables` says holds here too."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKey, Index, LargeBinary, Table, UniqueConstraint

from fairtrial.store.session_tables import metadata
from fairtrial.store.tables import ID, SORTED_TEXT

__all__ = ["api_key", "metadata", "span_part", "span_session", "span_trace"]

api_key = Table(
    "api_key",
    metadata,
    Column("id", ID, primary_key=True),
    Column("ref", SORTED_TEXT, nullable=False),
    Column("name", SORTED_TEXT, nullable=False),
    Column("scope", SORTED_TEXT, nullable=False),
    # A hash of the key; the key itself is kept nowhere.
    Column("digest", LargeBinary, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("revoked_at", BigInteger),
    # The id of the one project that it is for; null is all of them.
    Column("project", SORTED_TEXT),
    UniqueConstraint("ref", name="api_key_ref"),
    UniqueConstraint("digest", name="api_key_digest"),
)

# What programs told of a session, as it came in; `session` has what is made of it. `version` grows
# with each new part, `told` is the version that the session was last made from.
span_session = Table(
    "span_session",
    metadata,
    Column("id", ID, primary_key=True),
    Column("agent", SORTED_TEXT, nullable=False),
    Column("native_id", SORTED_TEXT, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("told", BigInteger, nullable=False),
    Column("parts", BigInteger, nullable=False),
    Column("size", BigInteger, nullable=False),
    UniqueConstraint("native_id", name="span_session_native"),
)

# Which session each trace belongs to.
span_trace = Table(
    "span_trace",
    metadata,
    Column("trace", SORTED_TEXT, primary_key=True),
    Column("session_id", ID, ForeignKey("span_session.id"), nullable=False),
    Index("span_trace_session", "session_id"),
)

# A span or a log record, compressed; its key is the same when it is sent again.
span_part = Table(
    "span_part",
    metadata,
    Column("key", SORTED_TEXT, primary_key=True),
    Column("session_id", ID, ForeignKey("span_session.id"), nullable=False),
    Column("data", LargeBinary, nullable=False),
    Index("span_part_session", "session_id"),
)
