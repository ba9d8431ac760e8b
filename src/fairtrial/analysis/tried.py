"""How many configurations were tried, and what that does to the best of them."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

from fairtrial.model.json import Json
from fairtrial.model.noise import StoredFloor
from fairtrial.stats.best_of import best_of


@dataclass(frozen=True, slots=True)
class Tried:
    """What was tried on a dataset, and how that flatters the best.

    Attributes:
        dataset: Its name; its versions count together.
        configurations: Distinct tasks that ran on it.
        optimism: How much the best of them would look better than it is, were all equally good;
            None when nothing was chosen yet, or nothing is known of the noise.
        se: Standard error of one configuration's pass rate.
        basis: Where it comes from: `noise floor` or `spread`; None without it.
        method: How the optimism was computed.
        reason: Why there is no optimism; None when there is one.
    """

    dataset: str
    configurations: int
    optimism: float | None = None
    se: float | None = None
    basis: str | None = None
    method: str | None = None
    reason: str | None = None

    def sentence(self) -> str:
        """Return the ledger in words."""
        if self.configurations <= 1:
            return f"One configuration was tried on {self.dataset}: nothing was chosen yet."
        counted = f"{self.configurations:,} configurations were tried on {self.dataset}"
        if self.optimism is None:
            return (
                f"{counted}: the best of them is flattered by the choice; by how much is not "
                f"known: {self.reason}."
            )
        measured = {
            "noise floor": "by the noise that exp aa measured",
            "spread": "at most, as if every case were drawn anew",
        }
        return (
            f"{counted}: were all equally good, the best would still look "
            f"{100 * self.optimism:.1f} points better than it is "
            f"({measured[self.basis or 'spread']})."
        )

    def content(self) -> dict[str, Json]:
        """Return it as one JSON object."""
        return {**asdict(self), "sentence": self.sentence()}


def tried(
    dataset: str,
    configurations: int,
    *,
    floor: StoredFloor | None = None,
    size: tuple[int, int] = (0, 1),
    rate: float | None = None,
) -> Tried:
    """Return what trying many does to the best, on a suite of a size.

    All configurations run the same cases, so what scatters is the noise within cases. Where exp aa
    measured it, that is used; else the spread of a pass rate over fresh cases, which is larger.

    Args:
        dataset: The dataset's name.
        configurations: How many were tried on it.
        floor: The noise floor of one of them, if one was measured.
        size: Cases, and trials a case.
        rate: The pass rate of one of them; None when nothing was decided.
    """
    cases, trials = size
    if configurations < 2:
        return Tried(dataset, configurations, reason="nothing was chosen yet")
    if cases < 1 or (rate is None and floor is None):
        return Tried(dataset, configurations, reason="no case has a verdict")
    if floor is not None:
        # The luck of a difference is that of two runs.
        se, basis = floor.luck_at(cases, trials).sd / math.sqrt(2.0), "noise floor"
    elif rate is not None and 0.0 < rate < 1.0:
        se, basis = math.sqrt(rate * (1.0 - rate) / cases), "spread"
    else:
        why = f"{'all' if rate else 'none'} of its cases passed, which shows no spread"
        return Tried(dataset, configurations, reason=why)
    found = best_of(configurations, se)
    return Tried(dataset, configurations, found.estimate, se, basis, found.method)
