"""JSONL: the session on the first line, one event on each line after it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TextIO

from fairtrial.interchange.experiment_exports.export import timestamp
from fairtrial.model.json import Json
from fairtrial.model.session import Session, SessionEvent
from fairtrial.ports.sessions import FlaggedSession


def write(found: FlaggedSession, events: Sequence[SessionEvent], stream: TextIO) -> None:
    """Write a session and its events, one a line."""
    first = {"kind": "session", **session_facts(found.session)}
    first["flags"] = [asdict(flag) for flag in found.flags]
    stream.write(_line(first))
    stream.writelines(_line(event_facts(event)) for event in events)


def session_facts(session: Session) -> dict[str, Json]:
    """Return a session as JSON."""
    facts = asdict(session)
    for name in ("started_at", "ended_at"):
        moment = getattr(session, name)
        facts[name] = None if moment is None else timestamp(moment)
    return facts


def event_facts(event: SessionEvent) -> dict[str, Json]:
    """Return an event as JSON; what it holds beside its place depends on its kind."""
    at = None if event.at is None else timestamp(event.at)
    return {"kind": event.kind, **asdict(event), "at": at}


def _line(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n"
