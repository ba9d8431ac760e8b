"""What `sessions decisions` says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from fairtrial.interchange.experiment_exports.export import timestamp
from fairtrial.interchange.session_exports.jsonl import event_facts
from fairtrial.model.decision_point import DecisionPoint
from fairtrial.model.errors import ExitCode
from fairtrial.model.json import Json
from fairtrial.model.session import Session, SessionEvent


@dataclass(frozen=True, slots=True)
class BehaviorLine:
    """A behaviour that was looked for.

    Attributes:
        name: Its name.
        summary: What the agent does that is bad.
        rubric: What tells a judge whether a next turn shows it.
    """

    name: str
    summary: str
    rubric: str


@dataclass(frozen=True, slots=True)
class DecisionLine:
    """A decision point with its surroundings.

    Attributes:
        session: The session it happened in.
        point: The point.
        context: What the agent knew: the events of its thread up to there.
        choice: What it did then.
        same: How many further ones with the same context and the same choice were seen.
    """

    session: Session
    point: DecisionPoint
    context: Sequence[SessionEvent]
    choice: Sequence[SessionEvent]
    same: int = 0


@dataclass(frozen=True, slots=True)
class AnchorTrouble:
    """An anchor of the user failed at sessions.

    Attributes:
        anchor: Its name.
        sessions: At how many.
        session: The first of them.
        why: What happened there.
    """

    anchor: str
    sessions: int
    session: str
    why: str


@dataclass(frozen=True, slots=True)
class DecisionsReport:
    """Decision points.

    Attributes:
        behaviors: What was looked for.
        decisions: The newest first.
        sought: `bad`, `good` or `both`.
        more: Whether there may be further ones beyond the limit.
        sessions: How many sessions were looked at.
        shown: How many events of each context are shown as text.
        other_agents: Agents of the sessions that were passed over for their agent.
        troubles: Anchors that failed.
        broken: Names of the anchors that failed at every session.
    """

    schema: ClassVar[str] = "fairtrial.decisions/1"

    behaviors: Sequence[BehaviorLine]
    decisions: Sequence[DecisionLine]
    sought: str
    more: bool
    sessions: int
    shown: int = 0
    other_agents: Sequence[str] = ()
    troubles: Sequence[AnchorTrouble] = ()
    broken: Sequence[str] = ()

    @property
    def exit_code(self) -> ExitCode:
        """64 when an anchor failed at every session that it was shown; else 0."""
        return ExitCode.USAGE if self.broken else ExitCode.OK

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object, with all that agents knew."""
        return {
            "schema": self.schema,
            "sought": self.sought,
            "behaviors": [
                {"name": one.name, "summary": one.summary, "rubric": one.rubric}
                for one in self.behaviors
            ],
            "decisions": [_decision_json(one) for one in self.decisions],
            "more": self.more,
            "sessions": self.sessions,
            "troubles": [
                {
                    "anchor": one.anchor,
                    "sessions": one.sessions,
                    "session": one.session,
                    "why": one.why,
                    "broken": one.anchor in self.broken,
                }
                for one in self.troubles
            ],
        }


def point_json(point: DecisionPoint) -> dict[str, Json]:
    """Return a decision point."""
    detail: Mapping[str, Json] = point.detail
    return {
        "behavior": point.behavior,
        "bad": point.bad,
        "summary": point.summary,
        "after": point.after,
        "thread": point.thread,
        "evidence": list(point.evidence),
        "detail": dict(detail),
    }


def moment_of(one: DecisionLine) -> datetime | None:
    """Return when an agent decided, as near as its transcript tells."""
    near = (event.at for event in (*one.choice, *reversed(one.context)))
    return next((at for at in near if at is not None), one.session.ended_at)


def _decision_json(one: DecisionLine) -> dict[str, Json]:
    session = one.session
    at = moment_of(one)
    return {
        **point_json(one.point),
        "at": None if at is None else timestamp(at),
        "same": one.same,
        "session": session.id,
        "agent": session.agent,
        "models": list(session.models),
        "cwd": session.cwd,
        "repo": session.repo,
        "branch": session.branch,
        "commit": session.commit,
        "first_prompt": session.first_prompt,
        "context": [event_facts(event) for event in one.context],
        "choice": [event_facts(event) for event in one.choice],
    }
