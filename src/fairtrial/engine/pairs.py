"""The order of measurements in pairs: every case runs in both arms, one right after the other."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from fairtrial.engine.plan import Plan, Slot


@dataclass(frozen=True, slots=True)
class PairedPlan(Plan):
    """A plan of two arms whose cases are pairs of runs, in the order of the dataset.

    Which arm comes first is drawn for every other pair, and is the other way round in the next, so
    that both orders are equally frequent whenever the run ends, and neither arm meets a warmer
    machine than the other.
    """

    def slots(self) -> Iterator[Slot]:
        """Yield every run in the order it is due."""
        draws = random.Random(self.seed)  # noqa: S311  # an order, not a secret
        swapped = False
        for index, case in enumerate(self.cases):
            swapped = draws.random() < 0.5 if index % 2 == 0 else not swapped
            for arm in self.arms[::-1] if swapped else self.arms:
                yield Slot(case, arm.name, 1)
