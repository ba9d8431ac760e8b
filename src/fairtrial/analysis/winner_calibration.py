"""A pairwise judge against people who compared the same outputs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from fairtrial.model.case import CaseKey
from fairtrial.model.pairwise import Winner, WinnerLabels
from fairtrial.stats.agreement.confusion import Confusion, confusion
from fairtrial.stats.agreement.kappa import Agreement, cohen_kappa
from fairtrial.stats.interval import Interval
from fairtrial.stats.proportion import wilson


@dataclass(frozen=True, slots=True)
class WinnerCalibration:
    """One pairwise judge against human labels, on the test split.

    Attributes:
        n: Cases of the test split with a label and an answer of the judge.
        agreed: How many of them have the same winner, ties included.
        interval: Wilson's interval of the accuracy; None without cases.
        kappa: Agreement beyond chance, over the three answers.
        sides: The cases where both name a winner: tp both B, tn both A; None when there is none.
        outside: Labels of cases that are not in the test split, which do not count.
        reason: Why there is nothing to say.
    """

    n: int
    agreed: int
    interval: Interval | None
    kappa: Agreement
    sides: Confusion | None
    outside: int
    reason: str = ""

    @property
    def accuracy(self) -> float | None:
        """Share of cases with the same winner; None without cases."""
        return self.agreed / self.n if self.n else None


def calibrate_winners(
    judge: Mapping[CaseKey, Winner | None],
    people: WinnerLabels,
    test_split: Collection[CaseKey],
    *,
    level: float = 0.95,
) -> WinnerCalibration:
    """Hold a pairwise judge's winners against people's, on the test split only.

    The rubric was written while looking at the other cases: there it agrees better than it will.

    Args:
        judge: The judge's winner of each case; None where it is undecided.
        people: The winners that people named.
        test_split: The cases of the test split.
        level: Confidence level.
    """
    inside = [key for key in people if key in test_split]
    outside = len(people) - len(inside)
    both = [(winner, people[key]) for key in inside if (winner := judge.get(key)) is not None]
    kappa = cohen_kappa([j for j, _ in both], [h for _, h in both], level=level)
    if not both:
        reason = "no label belongs to a judged case of the test split"
        return WinnerCalibration(0, 0, None, kappa, None, outside, reason)
    agreed = sum(j == h for j, h in both)
    named = [(j == "b", h == "b") for j, h in both if "tie" not in (j, h)]
    sides = None
    if named:
        sides = confusion([float(j) for j, _ in named], [float(h) for _, h in named], level=level)
    interval = wilson(agreed, len(both), level)
    return WinnerCalibration(len(both), agreed, interval, kappa, sides, outside)
