"""When two decision points are the same: what was known and what was chosen are."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from fairtrial.model.decision_point import DecisionPoint
from fairtrial.model.session import Call, Compaction, Prompt, Result, Said, Session, SessionEvent
from fairtrial.sessions.decision_points.finding import choice
from fairtrial.sessions.repetition import call_key, normalised


def keys(
    session: Session, events: Sequence[SessionEvent], points: Sequence[DecisionPoint]
) -> list[bytes]:
    """Return a key for each decision point of a session that is equal for the same ones.

    Such are those of a fork and of what it was forked from, and those of the same work done twice:
    prompts, texts, calls and results are compared, without the session's folder, times and ids.

    Args:
        session: The session.
        events: All its events, in order.
        points: Its points, in order of the events that they come after.
    """
    told = {thread: hashlib.sha256() for thread in {event.thread for event in events}}
    place, found = 0, []
    for point in points:
        while place < point.after:
            event = events[place]
            told[event.thread].update(_told(session, event))
            place += 1
        own = told[point.thread].copy()
        for event in choice(events, point):
            own.update(_told(session, event))
        own.update(f"{session.agent}\0{point.behavior}\0{point.bad}".encode("utf-8", "replace"))
        found.append(own.digest())
    return found


def _told(session: Session, event: SessionEvent) -> bytes:
    """Return what of an event another session would hold as well."""
    found: Any
    match event:
        case Prompt() | Said():
            found = event.text.encode("utf-8", "replace")
        case Call():
            found = call_key(event)
        case Result():
            found = f"{event.status}\0{normalised(event.text)}".encode("utf-8", "replace")
        case Compaction():
            found = event.summary.encode("utf-8", "replace")
        case _:
            return b""
    cwd = (session.cwd or "").encode("utf-8", "replace")
    plain: bytes = found.replace(cwd, b".") if len(cwd) > 1 else found
    return event.kind.encode() + b"\0" + plain + b"\0\0"
