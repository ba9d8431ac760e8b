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
        visible: The smallest difference that shows, by cases and trials; without a flip, for the
            highest flip rate that fits.
        flip_rate_at_most: The highest flip rate that fits when no flip was seen (one-sided, 95 %);
            None when there were flips.
        sd_at_most: The standard deviation at that rate.
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
    flip_rate_at_most: float | None = None
    sd_at_most: float | None = None

    @property
    def luck(self) -> Luck:
        """How far run 2 and run 1 differ by luck alone."""
        most = self.sd_at_most
        return Luck(self.sd, at_most=False) if most is None else Luck(most, at_most=True)

    @property
    def drifts(self) -> bool:
        """Whether the two runs differ beyond luck, so that something around the agent moved."""
        return self.drift_p < 0.05


@dataclass(frozen=True, slots=True)
class Luck:
    """How far two unchanged runs of a size differ.

    Attributes:
        sd: Standard deviation of B less A.
        at_most: No flip was seen, so that this is only the largest that fits (one-sided, 95 %).
    """

    sd: float
    at_most: bool

    @property
    def words(self) -> str:
        """How far, e.g. `by 11.2 points (one sd)`."""
        if self.at_most:
            return f"by at most {100 * self.sd:.1f} points (one sd; no flip was seen, 95 % sure)"
        return f"by {100 * self.sd:.1f} points (one sd)"


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

    def luck_at(self, cases: int, trials: int) -> Luck:
        """Return how far two unchanged runs of a size differ."""
        most = self.floor.flip_rate_at_most
        within = self.floor.within if most is None else 0.5 * most
        return Luck(math.sqrt(2.0 * within / (cases * trials)), most is not None)

    def sentence(self, luck: Luck) -> str:
        """Return how far two unchanged runs differ by luck, and where that was measured."""
        source = " and ".join(self.experiments)
        return (
            f"Unchanged, two runs of this size differ {luck.words}, as exp aa measured ({source})."
        )
