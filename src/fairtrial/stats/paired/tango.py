"""Tango's score interval for a paired difference of pass rates."""

from __future__ import annotations

import math

from fairtrial.stats.checks import check_level
from fairtrial.stats.interval import Interval
from fairtrial.stats.paired.counts import PairedCounts
from fairtrial.stats.paired.result import PairedDifference
from fairtrial.stats.roots import find_root
from fairtrial.stats.tails import normal_quantile


def tango(counts: PairedCounts, level: float = 0.95) -> PairedDifference:
    """Return Tango's score interval.

    Formula: all D with |b - c - nD| <= z sqrt(n (2q + D (1-D))), b fixed, c broken, q the
    restricted estimate of the chance to break. Source: Tango 1998, Stat Med 17:891.

    Use it for pass/fail with one trial an arm: its coverage stays near the level from n = 10 on,
    where the bootstrap and t intervals fall short. Twenty ties give about ±0.16, not [0, 0]. It
    lies when cases are not independent, or when trials are counted as cases.

    Args:
        counts: The paired table.
        level: Confidence level.
    """
    z = normal_quantile(0.5 + 0.5 * check_level(level))
    n, fixed, broken = counts.n, counts.fixed, counts.broken
    interval = Interval("tango", level, _lower(n, fixed, broken, z), -_lower(n, broken, fixed, z))
    return PairedDifference(counts.difference, interval, None, n, n, level, "tango")


def _lower(n: int, fixed: int, broken: int, z: float) -> float:
    if broken == n:
        return -1.0
    estimate = (fixed - broken) / n

    def excess(d: float) -> float:
        if d == estimate:
            return -z
        linear = (2 * n - fixed + broken) * d - fixed - broken
        root = math.sqrt(max(0.0, linear * linear + 8.0 * n * broken * d * (1.0 - d)))
        q = (root - linear) / (4.0 * n)
        variance = n * (2.0 * q + d * (1.0 - d))
        gap = fixed - broken - n * d
        return gap / math.sqrt(variance) - z if variance > 0.0 else gap * 1e9

    return find_root(excess, -1.0, estimate)
