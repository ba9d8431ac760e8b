"""What a design found: the part of a report that a plain run does not have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fairtrial.model.decision import Outcome
from fairtrial.model.json import Json


@dataclass(frozen=True, slots=True)
class DesignReading:
    """What a run with a design came to, beside its trials.

    Attributes:
        kind: Which design.
        lines: What it found, one sentence each; the first is the one to show when there is room
            for one.
        facts: The numbers behind it, as JSON.
        outcome: What it decided; None when it decides nothing.
    """

    kind: str
    lines: tuple[str, ...]
    facts: Mapping[str, Json] = field(default_factory=dict)
    outcome: Outcome | None = None

    def content(self) -> dict[str, Json]:
        """Return it as one JSON object."""
        return {
            "kind": self.kind,
            "lines": list(self.lines),
            "facts": dict(self.facts),
            "outcome": None if self.outcome is None else self.outcome.value,
        }


def design_reading(stored: Json) -> DesignReading:
    """Return the reading that `DesignReading.content` described."""
    outcome = stored["outcome"]
    return DesignReading(
        stored["kind"],
        tuple(stored["lines"]),
        stored["facts"],
        None if outcome is None else Outcome(outcome),
    )
