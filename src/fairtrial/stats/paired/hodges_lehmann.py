"""The Hodges-Lehmann estimate and its exact interval."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fairtrial.stats.arrays import as_values
from fairtrial.stats.checks import check_level
from fairtrial.stats.interval import Interval, PValue
from fairtrial.stats.paired.result import PairedDifference
from fairtrial.stats.paired.walsh import walsh_order_statistics
from fairtrial.stats.paired.wilcoxon import signed_rank_quantile, wilcoxon

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
    low_middle, high_middle, lower, upper = walsh_order_statistics(kept, wanted)
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
