"""An A/A run: how much differs when nothing differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.paired.mcnemar import McNemar, mcnemar
from fairtrial.stats.power import SmallestEffect, flaky_design, smallest_effect
from fairtrial.stats.trials import from_scores
from fairtrial.stats.variance import VarianceComponents, variance_components


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """What an unchanged agent does on its own.

    Attributes:
        components: Variance within and between cases, and the flip rate.
        drift: First trials against second trials; a small p means the environment moved.
        visible: The smallest difference visible with this many cases, by trials an arm.
    """

    components: VarianceComponents
    drift: McNemar
    visible: dict[int, SmallestEffect]

    @property
    def drifts(self) -> bool:
        """Whether the first and second runs differ beyond luck."""
        return self.drift.p_mid < 0.05

    def describe(self) -> str:
        """Return the noise floor in words."""
        parts = [self.components.describe()]
        if self.drifts:
            parts.append(f"The environment drifts: {self.drift.describe()}")
        parts += [
            f"{trials} {'trial' if trials == 1 else 'trials'} an arm: {found.describe()}"
            for trials, found in self.visible.items()
        ]
        return " ".join(parts)


def noise_floor(runs: Sequence[Sequence[bool]], *, trials: Sequence[int] = (1, 3, 5)) -> NoiseFloor:
    """Return the noise of an unchanged agent from repeated runs over the same cases.

    Args:
        runs: For each case its verdicts in run order, at least two and as many for each case.
        trials: Trials an arm to plan for.

    Raises:
        ArgumentError: a case has fewer than two runs, or cases differ in their number.
    """
    if not runs or len({len(case) for case in runs}) > 1 or len(runs[0]) < 2:
        raise ArgumentError("runs", "needs the same number of runs, at least two, for each case")
    components = variance_components(from_scores("runs", [[float(v) for v in c] for c in runs]))
    first_two = np.array([[bool(case[0]), bool(case[1])] for case in runs])
    gained = int((~first_two[:, 0] & first_two[:, 1]).sum())
    lost = int((first_two[:, 0] & ~first_two[:, 1]).sum())
    flip = components.flip_rate or 0.0
    return NoiseFloor(
        components,
        mcnemar(gained, lost),
        {k: smallest_effect(len(runs), flaky_design(min(flip, 1.0), k).variance) for k in trials},
    )
