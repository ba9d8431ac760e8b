"""A decision: the result of every gate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from fairtrial.model.errors import ExitCode
from fairtrial.model.json import Json


class Outcome(StrEnum):
    """What a gate says."""

    SHIP = "ship"
    """The change may go out."""
    HOLD = "hold"
    """It may not, or not yet; also when nothing was proved."""
    CONTINUE = "continue"
    """A loop goes on."""
    STOP = "stop"
    """A loop has reached its plateau, or a run its boundary."""
    TOO_FEW = "too_few"
    """There is too little to decide on."""
    NO_VERDICT = "no_verdict"
    """What was measured says nothing about quality: a partial run, or another thing measured."""


EXIT_CODES = {
    Outcome.SHIP: ExitCode.OK,
    Outcome.CONTINUE: ExitCode.OK,
    Outcome.HOLD: ExitCode.NEGATIVE,
    Outcome.TOO_FEW: ExitCode.TOO_FEW,
    Outcome.STOP: ExitCode.STOP,
    Outcome.NO_VERDICT: ExitCode.NO_VERDICT,
}
"""The exit status that says an outcome."""


@dataclass(frozen=True, slots=True)
class Decision:
    """An outcome with what led to it.

    Attributes:
        outcome: What the gate says.
        reasons: Why, one sentence each; the first is the one to show when there is room for one.
        evidence: The numbers behind it, as JSON.
        advice: What would change it.
    """

    outcome: Outcome
    reasons: tuple[str, ...]
    evidence: Mapping[str, Json] = field(default_factory=dict)
    advice: tuple[str, ...] = ()

    @property
    def exit_code(self) -> ExitCode:
        """The exit status a command ends with."""
        return EXIT_CODES[self.outcome]
