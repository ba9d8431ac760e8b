"""Wilcoxon's signed-rank test, exact on midranks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from fairtrial.stats.arrays import FloatArray, as_values
from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.interval import how_often
from fairtrial.stats.paired.sign_flip import saddlepoint_tail
from fairtrial.stats.tails import normal_quantile

Zeros = Literal["drop", "pratt"]
_MOST_EXACT = 500


@dataclass(frozen=True, slots=True)
class Wilcoxon:
    """A signed-rank test.

    Attributes:
        statistic: V, the sum of the ranks of positive differences.
        p: Two-sided p-value.
        p_greater: One-sided p-value for "the candidate is better".
        n: Differences that took part.
        zeros: Differences of zero: dropped, or ranked without a sign (pratt).
        method: `exact` or `saddlepoint`.
        reason: What to know about the answer.
    """

    statistic: float
    p: float
    p_greater: float
    n: int
    zeros: int
    method: str
    reason: str = ""

    def describe(self) -> str:
        """Return the test in words."""
        return (
            f"Ranked by size, the {self.n:,} differences that are not zero lean to one side; "
            f"with signs handed out by luck that happens {how_often(self.p)} "
            f"(Wilcoxon signed-rank, {self.method})."
        )


def wilcoxon(d: npt.ArrayLike, *, zeros: Zeros = "drop") -> Wilcoxon:
    """Test whether differences are centred on zero, by their signed ranks.

    Formula: V = sum of the midranks of positive d; its null distribution, given the midranks, by
    convolution (exact to 500 differences, then saddlepoint); p = min(1, 2 min(P(V <= v),
    P(V >= v))). Source: Wilcoxon 1945; zeros ranked first and then left out: Pratt 1959, JASA
    54:655.

    Use it for skewed or outlier-ridden numbers such as durations. It lies when differences are
    not symmetric about their middle, and cannot reach .05 with fewer than 6 differences.

    Args:
        d: One difference a case.
        zeros: `drop` leaves zeros out before ranking; `pratt` ranks them first.

    Raises:
        ArgumentError: d is not finite and one-dimensional, or zeros is another word.
    """
    if zeros not in ("drop", "pratt"):
        raise ArgumentError("zeros", f"must be 'drop' or 'pratt', not {zeros!r}")
    values = as_values("d", d)
    none = int((values == 0.0).sum())
    if zeros == "drop":
        values = values[values != 0.0]
    ranks = midranks(np.abs(values))[values != 0.0]
    positive = values[values != 0.0] > 0.0
    n = ranks.size
    if n == 0:
        return Wilcoxon(0.0, 1.0, 1.0, 0, none, "exact", "no difference is other than zero")
    statistic = float(ranks[positive].sum())
    reason = "fewer than 6 differences cannot reach p = .05" if n < 6 else ""
    if n > _MOST_EXACT:
        lean = 2.0 * statistic - float(ranks.sum())
        tail = saddlepoint_tail(ranks, abs(lean))
        greater = tail if lean >= 0.0 else 1.0 - tail
        return Wilcoxon(statistic, min(1.0, 2.0 * tail), greater, n, none, "saddlepoint", reason)
    cumulative = np.cumsum(_null(np.rint(2.0 * ranks).astype(np.int64)))
    at = round(2.0 * statistic)
    lower = float(cumulative[at])
    upper = float(cumulative[cumulative.size - 1 - at])  # V is symmetric
    p = min(1.0, 2.0 * min(lower, upper))
    return Wilcoxon(statistic, p, upper, n, none, "exact", reason)


def midranks(sizes: FloatArray) -> FloatArray:
    """Return ranks from 1, equal values sharing the mean of their ranks."""
    _, inverse, counts = np.unique(sizes, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - 0.5 * (counts - 1))[inverse], dtype=np.float64)


def _null(doubled: npt.NDArray[np.int64]) -> FloatArray:
    """Return the pmf of the sum of a random half of the doubled ranks, at most 500 of them.

    Subsets are counted: 2^500 is a float, and each count keeps its relative precision. The pmf is
    symmetric, so the lower half will do; without ties only even sums are possible.
    """
    step = max(1, int(np.gcd.reduce(doubled)))
    ranks = np.sort(doubled // step).tolist()
    total = sum(ranks)
    counts = np.zeros(total // 2 + 1)
    counts[0] = 1.0
    reach = 0
    for rank in ranks:
        reach = min(reach + rank, counts.size - 1)
        counts[rank : reach + 1] += counts[: max(0, reach + 1 - rank)]
    pmf = np.zeros(total * step + 1)
    pmf[: total * step // 2 + 1 : step] = counts
    pmf[::-step][: counts.size] = counts
    return np.asarray(pmf * 0.5 ** len(ranks), dtype=np.float64)


def signed_rank_quantile(p: float, n: int) -> int:
    """Return the smallest k with P(V <= k) >= p for the signed-rank statistic of n untied ranks.

    Exact to n = 500, then by the normal approximation.
    """
    if n > _MOST_EXACT:
        sd = math.sqrt(n * (n + 1) * (2 * n + 1) / 24.0)
        return max(0, math.ceil(0.25 * n * (n + 1) + normal_quantile(p) * sd - 0.5))
    cumulative = np.cumsum(_null(np.arange(1, n + 1)))
    return int(np.searchsorted(cumulative, p * (1.0 - 1e-12)))
