"""The Hodges-Lehmann estimate and its exact interval."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fairtrial.stats.arrays import FloatArray, as_values
from fairtrial.stats.checks import check_level
from fairtrial.stats.interval import Interval, PValue
from fairtrial.stats.paired.result import PairedDifference
from fairtrial.stats.paired.wilcoxon import signed_rank_quantile, wilcoxon

_MOST_LISTED = 1500
_METHOD = "hodges-lehmann"


def hodges_lehmann(
    d: npt.ArrayLike, *, level: float = 0.95, drop_zeros: bool = False
) -> PairedDifference:
    """Return the median of pairwise averages with Wilcoxon's interval.

    Formula: W = sorted (d_i + d_j)/2 for i <= j, M = n(n+1)/2 of them. Estimate: median of W.
    Interval: W_(k) to W_(M+1-k), k the smallest with P(V <= k) >= alpha/2 and at least 1. p: the
    signed-rank test on midranks. Source: Hodges & Lehmann 1963; Bauer 1972, JASA 67:687.

    Use it for durations, costs and other numbers with outliers, where a mean and its t interval
    lose power. It lies when differences are not symmetric: it then speaks of the pseudo-median.
    Below 6 differences the interval is the widest there is and still not of the level.

    Args:
        d: One difference a case.
        level: Confidence level.
        drop_zeros: Leave zeros out of estimate and interval too, as R's wilcox.test does.

    Raises:
        ArgumentError: d is not finite and one-dimensional.
    """
    check_level(level)
    values = as_values("d", d)
    test = wilcoxon(values)
    kept = np.sort(values[values != 0.0] if drop_zeros else values)
    n = kept.size
    if n == 0:
        return PairedDifference(None, None, None, 0, 0, level, _METHOD, "there are no differences")
    pairs = n * (n + 1) // 2
    k = max(1, signed_rank_quantile(0.5 * (1.0 - level), n))
    wanted = ((pairs + 1) // 2, pairs // 2 + 1, k, pairs + 1 - k)
    low_middle, high_middle, lower, upper = _walsh_order_statistics(kept, wanted)
    p = PValue(f"wilcoxon {test.method}", test.p)
    return PairedDifference(
        estimate=0.5 * (low_middle + high_middle),
        interval=Interval(_METHOD, level, lower, upper),
        p=p,
        n=n,
        clusters=n,
        level=level,
        method=_METHOD,
        reason=test.reason,
        p_exact=p,
        p_greater=PValue(f"wilcoxon {test.method}", test.p_greater),
    )


def _walsh_order_statistics(ordered: FloatArray, ranks: tuple[int, ...]) -> list[float]:
    """Return the averages (d_i + d_j)/2, i <= j, of the given ranks, counting from 1.

    A million values have 5e11 averages, so beyond 1500 values they are counted, not listed.
    """
    if ordered.size <= _MOST_LISTED:
        rows, columns = np.triu_indices(ordered.size)
        averages = 0.5 * (ordered[rows] + ordered[columns])
        averages.partition([rank - 1 for rank in ranks])
        return [float(averages[rank - 1]) for rank in ranks]
    return [_nth_average(ordered, rank) for rank in ranks]


def _nth_average(ordered: FloatArray, rank: int) -> float:
    n = ordered.size
    floor = np.arange(n)

    def last_partner(limit: float) -> npt.NDArray[np.int64]:
        found = np.searchsorted(ordered, 2.0 * limit - ordered, side="right")
        return np.maximum(found, floor).astype(np.int64)

    low, high = float(ordered[0]), float(ordered[-1])
    if int((last_partner(low) - floor).sum()) >= rank:
        return low
    while True:
        middle = low + 0.5 * (high - low)
        if not low < middle < high or high - low <= 1e-13 * (abs(low) + abs(high)):
            break
        if int((last_partner(middle) - floor).sum()) >= rank:
            high = middle
        else:
            low = middle
    last = last_partner(high)
    paired = last > floor
    best = 0.5 * (ordered[paired] + ordered[last[paired] - 1])
    return float(best.max())
