"""Bonett and Price's adjusted Wald interval for a paired difference of pass rates."""

from __future__ import annotations

import math

from fairtrial.stats.checks import check_level
from fairtrial.stats.interval import Interval
from fairtrial.stats.paired.counts import PairedCounts
from fairtrial.stats.paired.result import PairedDifference
from fairtrial.stats.tails import normal_quantile


def bonett_price(counts: PairedCounts, level: float = 0.95) -> PairedDifference:
    """Return Bonett and Price's adjusted Wald interval.

    Formula: one pseudo-case is added to fixed and one to broken; then Wald on n + 2. Source:
    Bonett & Price 2012, Stat Med 31:479.

    Use it as the simple cousin of the guarded t interval, which carries its idea to several
    trials and clusters. It lies at n below 10 (too narrow at the ends).

    Args:
        counts: The paired table.
        level: Confidence level.
    """
    z = normal_quantile(0.5 + 0.5 * check_level(level))
    size = counts.n + 2
    up, down = (counts.fixed + 1) / size, (counts.broken + 1) / size
    half = z * math.sqrt((up + down - (up - down) ** 2) / size)
    interval = Interval("bonett-price", level, up - down - half, up - down + half)
    return PairedDifference(
        counts.difference,
        interval.clipped(-1.0, 1.0),
        None,
        counts.n,
        counts.n,
        level,
        "bonett-price",
        centre=up - down,
    )
