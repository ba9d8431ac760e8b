"""Which cases were fixed or broken, and how trials split."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fairtrial.stats.distinct import distinct_rows
from fairtrial.stats.gate.cross_fitted import majority_solved
from fairtrial.stats.trials import TrialSums


@dataclass(frozen=True, slots=True)
class Flips:
    """Positions of cases whose majority verdict changed.

    Attributes:
        fixed: Solved by the candidate only.
        broken: Solved by the baseline only.
        solved_baseline: Cases the baseline solved.
        solved_candidate: Cases the candidate solved.
        n: Cases.
    """

    fixed: npt.NDArray[np.intp]
    broken: npt.NDArray[np.intp]
    solved_baseline: int
    solved_candidate: int
    n: int

    @property
    def net(self) -> int:
        """Fixed less broken."""
        return self.fixed.size - self.broken.size

    def describe(self) -> str:
        """Return the flips in words."""
        return (
            f"{self.fixed.size:,} cases fixed and {self.broken.size:,} broken of {self.n:,}; the "
            f"baseline solved {self.solved_baseline:,}, the candidate {self.solved_candidate:,}."
        )


def flips(baseline: TrialSums, candidate: TrialSums) -> Flips:
    """Return the cases whose majority verdict changed; one of two passes is not solved."""
    a, b = majority_solved(baseline), majority_solved(candidate)
    return Flips(
        np.flatnonzero(b & ~a), np.flatnonzero(a & ~b), int(a.sum()), int(b.sum()), baseline.n
    )


def pass_matrix(baseline: TrialSums, candidate: TrialSums) -> Mapping[tuple[int, int], int]:
    """Return how many cases have each pair (passes in the baseline, passes in the candidate)."""
    passes = [arm.total.astype(np.int64) for arm in (baseline, candidate)]
    found, counts = distinct_rows(passes)
    return {(a, b): k for (a, b), k in zip(found.tolist(), counts.tolist(), strict=True)}
