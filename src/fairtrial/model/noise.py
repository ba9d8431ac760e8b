"""The noise floor of one configuration: how much differs when nothing differs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Visible:
    """The smallest difference that a comparison of a size shows most of the time.

    Attributes:
        cases: Cases.
        trials: Trials a case and arm.
        effect: The difference of the pass rates; None when there is none to give.
    """

    cases: int
    trials: int
    effect: float | None


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """What an unchanged agent does on its own, from two runs of one configuration.

    Attributes:
        cases: Cases with a verdict in both runs.
        trials: Mean trials a case and run.
        flip_rate: Chance that two trials of one case differ.
        within: Variance between trials of one case.
        between: Variance between the cases' own rates; None with one case.
        first: Pass rate of run 1 over these cases.
        second: Pass rate of run 2.
        sd: Standard deviation of run 2 less run 1 at this size, when nothing changes.
        drift_p: Two-sided p-value of run 1 against run 2.
        drift_method: How it was made.
        visible: The smallest difference that shows, by cases and trials.
    """

    cases: int
    trials: float
    flip_rate: float
    within: float
    between: float | None
    first: float
    second: float
    sd: float
    drift_p: float
    drift_method: str
    visible: tuple[Visible, ...]

    @property
    def drifts(self) -> bool:
        """Whether the two runs differ beyond luck, so that something around the agent moved."""
        return self.drift_p < 0.05


@dataclass(frozen=True, slots=True)
class StoredFloor:
    """A noise floor with where it comes from.

    Attributes:
        floor: What was measured.
        experiments: The ids of the experiments it was read from.
        measured_at: When (UTC).
    """

    floor: NoiseFloor
    experiments: tuple[str, ...]
    measured_at: datetime

    def sd_at(self, cases: int, trials: int) -> float:
        """Return the standard deviation of B less A at a size, when nothing changes."""
        return math.sqrt(2.0 * self.floor.within / (cases * trials))

    def sentence(self, sd: float) -> str:
        """Return how far two unchanged runs differ by luck, and where that was measured."""
        source = " and ".join(self.experiments)
        return (
            f"Unchanged, two runs of this size differ by {100 * sd:.1f} points (one sd), "
            f"as exp aa measured ({source})."
        )
