"""What `sessions show` says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from fairtrial.app.reports.decisions import point_json
from fairtrial.app.reports.informing import Informing
from fairtrial.app.reports.session_start import start_json
from fairtrial.app.reports.sessions import session_json
from fairtrial.interchange.session_exports.jsonl import event_facts
from fairtrial.model.decision_point import DecisionPoint
from fairtrial.model.json import Json
from fairtrial.model.session import SessionEvent
from fairtrial.model.start_state import StartState
from fairtrial.ports.sessions import FlaggedSession


@dataclass(frozen=True, slots=True)
class SessionReport(Informing):
    """A session with its events.

    Attributes:
        found: The session and its flags.
        start: What its repository held before it.
        events: Its events, or those of one thread.
        children: Ids of the sessions that came from it.
        full: Whether texts are shown whole.
        decisions: The decision points in it, in order.
    """

    schema: ClassVar[str] = "fairtrial.session/1"

    found: FlaggedSession
    start: StartState
    events: Sequence[SessionEvent]
    children: Sequence[str]
    full: bool
    decisions: Sequence[DecisionPoint] = ()

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            "session": session_json(self.found),
            "children": list(self.children),
            "start": start_json(self.start),
            "decisions": [point_json(point) for point in self.decisions],
            "events": [event_facts(event) for event in self.events],
        }
