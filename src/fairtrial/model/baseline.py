"""What an experiment is compared with when nobody says."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from fairtrial.model.comparison import FlipCounts
from fairtrial.model.experiment import ExperimentState


class Source(StrEnum):
    """Where a baseline comes from."""

    GIVEN = "given"
    """It was named on the command line or in the request."""
    PROJECT = "project"
    """The project's own, set with `exp baseline set`."""
    EARLIER = "earlier"
    """The newest earlier finished one of the same kind."""
    NONE = "none"
    """There is none."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """The baseline of an experiment, or why there is none.

    Attributes:
        state: The experiment to compare with; None when there is none.
        source: Where it comes from.
        reasons: Why those before it in the order were passed over, one sentence each.
    """

    state: ExperimentState | None
    source: Source
    reasons: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """Which baseline it is, or why there is none."""
        if self.state is None:
            return f"no baseline: {'; '.join(self.reasons)}"
        how = {
            Source.GIVEN: "as given",
            Source.PROJECT: "the project's baseline",
            Source.EARLIER: "the newest earlier finished one of the same kind",
        }[self.source]
        return f"{self.state.experiment.name} ({self.state.experiment.id}), {how}"


@dataclass(frozen=True, slots=True)
class AgainstBaseline:
    """How many rows an experiment fixed and broke against its baseline.

    Attributes:
        id: The baseline's id, which is its own when its first arm is the baseline of its last;
            None when there is none.
        name: The baseline's name.
        arm: Its arm.
        flips: The counts; None when there is none to give, and `reason` says why.
        reason: Why there is none.
        changed_at: When anything of the baseline was last recorded (UTC).
    """

    id: str | None
    name: str | None
    arm: str | None
    flips: FlipCounts | None
    reason: str | None
    changed_at: datetime | None = None
