"""What `sessions stats` and `sessions flags` say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from fairtrial.app.reports.informing import Informing
from fairtrial.app.reports.sessions import flag_json, session_json
from fairtrial.model.json import Json
from fairtrial.model.session import SessionEvent
from fairtrial.ports.sessions import FlaggedSession, SessionTally


@dataclass(frozen=True, slots=True)
class SessionStatsReport(Informing):
    """Sums of sessions.

    Attributes:
        tallies: By week and agent, oldest week first.
    """

    schema: ClassVar[str] = "fairtrial.session_stats/1"

    tallies: Sequence[SessionTally]

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            "weeks": [
                {
                    "week": tally.week,
                    "agent": tally.agent,
                    "sessions": tally.sessions,
                    "flagged": tally.flagged,
                    "flags": dict(tally.flags),
                    "tokens": tally.tokens,
                    "cost_usd": tally.cost_usd if tally.costed else None,
                    "costed": tally.costed,
                }
                for tally in self.tallies
            ],
        }


@dataclass(frozen=True, slots=True)
class RuleLine:
    """A rule that flags sessions.

    Attributes:
        name: Its name.
        summary: When it flags a session.
        muted: Whether it is muted.
        sessions: How many sessions have its flag.
    """

    name: str
    summary: str
    muted: bool
    sessions: int


@dataclass(frozen=True, slots=True)
class FlagRulesReport(Informing):
    """The rules that are installed.

    Attributes:
        rules: By name.
        troubles: Rules that could not be loaded, in words.
        checked: How many sessions the rules looked at again; None when they did not.
    """

    schema: ClassVar[str] = "fairtrial.flag_rules/1"

    rules: Sequence[RuleLine]
    troubles: Sequence[str]
    checked: int | None

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            "rules": [
                {
                    "name": rule.name,
                    "summary": rule.summary,
                    "muted": rule.muted,
                    "sessions": rule.sessions,
                }
                for rule in self.rules
            ],
            "troubles": list(self.troubles),
            "checked": self.checked,
        }


@dataclass(frozen=True, slots=True)
class SessionFlagsReport(Informing):
    """The flags of a session.

    Attributes:
        found: The session and its flags.
        events: The events that a flag names, by their number.
    """

    schema: ClassVar[str] = "fairtrial.session_flags/1"

    found: FlaggedSession
    events: Mapping[int, SessionEvent]

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            "session": session_json(self.found),
            "flags": [flag_json(flag) for flag in self.found.flags],
        }
