"""Sessions as JSON, and what `sessions list` and `sessions rm` say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import ClassVar

from fairtrial.app.reports.informing import Informing
from fairtrial.interchange.experiment_exports.export import timestamp
from fairtrial.model.flag import Flag
from fairtrial.model.json import Json
from fairtrial.model.session import Session
from fairtrial.ports.sessions import FlaggedSession


def session_json(found: FlaggedSession) -> dict[str, Json]:
    """Return a session with its flags, without its events."""
    session = found.session
    return {
        "id": session.id,
        "agent": session.agent,
        "agent_version": session.agent_version,
        "native_id": session.native_id,
        "files": list(session.files),
        "cwd": session.cwd,
        "repo": session.repo,
        "branch": session.branch,
        "commit": session.commit,
        "start_tree": session.start_tree,
        "models": list(session.models),
        "started_at": _when(session.started_at),
        "ended_at": _when(session.ended_at),
        "state": session.state.value,
        "counts": asdict(session.counts),
        "tokens": None if session.tokens is None else asdict(session.tokens),
        "cost_usd": session.cost_usd,
        "first_prompt": session.first_prompt,
        "final_text": session.final_text,
        "parent": session.parent_id,
        "relation": None if session.relation is None else session.relation.value,
        "flags": [flag_json(flag) for flag in found.flags],
        "unread": unread_json(session),
    }


def unread_json(session: Session) -> dict[str, Json]:
    """Return what was not understood in the files of a session."""
    unread = session.unread
    return {
        "records": unread.records,
        "unknown_records": dict(unread.unknown_records),
        "unknown_fields": dict(unread.unknown_fields),
        "bad_lines": unread.bad_lines,
        "clipped_lines": unread.clipped_lines,
    }


def flag_json(flag: Flag) -> dict[str, Json]:
    """Return a flag."""
    return {
        "name": flag.name,
        "level": flag.level.value,
        "summary": flag.summary,
        "evidence": list(flag.evidence),
        "detail": dict(flag.detail),
    }


def _when(moment: datetime | None) -> str | None:
    return None if moment is None else timestamp(moment)


@dataclass(frozen=True, slots=True)
class SessionsReport(Informing):
    """A page of sessions.

    Attributes:
        sessions: The last ended first.
        more: Whether there are earlier ones.
        where: The filter that chose them, if one did.
        since: The time that they ended since, as it was given.
    """

    schema: ClassVar[str] = "fairtrial.sessions/1"

    sessions: Sequence[FlaggedSession]
    more: bool
    where: str | None = None
    since: str | None = None

    def json(self) -> dict[str, Json]:
        """Return the page; `next` is what `--before` takes for the one after it."""
        return {
            "schema": self.schema,
            "sessions": [session_json(found) for found in self.sessions],
            "next": self.sessions[-1].session.id if self.more else None,
        }


@dataclass(frozen=True, slots=True)
class RemovedSessionsReport(Informing):
    """What was removed.

    Attributes:
        sessions: Ids of the sessions.
        freed_bytes: The bytes that their events took.
        kept_snapshots: Ids of their snapshots that stay, since an eval task begins with them, and
            a task of each, as `SUITE/NAME`.
    """

    schema: ClassVar[str] = "fairtrial.sessions_removed/1"

    sessions: Sequence[str]
    freed_bytes: int
    kept_snapshots: Mapping[str, str] = field(default_factory=dict)

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            "sessions": list(self.sessions),
            "freed_bytes": self.freed_bytes,
            "kept_snapshots": dict(self.kept_snapshots),
        }
