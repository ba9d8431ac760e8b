"""Forgetting the spans of sessions that were removed."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, delete, select, update

from fairtrial.store.server_tables import span_part, span_session, span_trace

REMOVED = -1
"""What a session that was removed has in place of the number of its parts."""

_AT_ONCE = 500


def forget_spans(connection: Connection, native_ids: Iterable[str]) -> int:
    """Forget the spans of sessions; return the bytes that they took.

    That they were removed stays known, so that what comes later is not kept either.
    """
    freed = 0
    names = list(native_ids)
    for at in range(0, len(names), _AT_ONCE):
        page = names[at : at + _AT_ONCE]
        chosen = select(span_session.c.id, span_session.c.size)
        rows = connection.execute(chosen.where(span_session.c.native_id.in_(page))).all()
        ids = [row.id for row in rows]
        freed += sum(row.size for row in rows)
        connection.execute(delete(span_part).where(span_part.c.session_id.in_(ids)))
        connection.execute(
            update(span_session)
            .where(span_session.c.id.in_(ids))
            .values(parts=REMOVED, size=0, told=span_session.c.version)
        )
    return freed


def allow_removed_spans(connection: Connection) -> None:
    """Forget which sessions were removed, so that what comes of them is kept again."""
    gone = select(span_session.c.id).where(span_session.c.parts == REMOVED)
    connection.execute(delete(span_trace).where(span_trace.c.session_id.in_(gone)))
    connection.execute(delete(span_session).where(span_session.c.parts == REMOVED))
