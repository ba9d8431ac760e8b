"""Newcombe's square-and-add interval for a paired difference of pass rates."""

from __future__ import annotations

import math

from fairtrial.stats.checks import check_level
from fairtrial.stats.interval import Interval
from fairtrial.stats.paired.counts import PairedCounts
from fairtrial.stats.paired.result import PairedDifference
from fairtrial.stats.proportion import wilson


def newcombe(counts: PairedCounts, level: float = 0.95) -> PairedDifference:
    """Return Newcombe's square-and-add interval (method 10).

    Formula: the Wilson intervals of the two pass rates, joined as
    sqrt(l² - 2 phi l u + u²) with the continuity-corrected correlation phi of the table. Source:
    Newcombe 1998, Stat Med 17:2635.

    Use it where readers expect it; Tango is as good and the default. It lies when cases are not
    independent.

    Args:
        counts: The paired table.
        level: Confidence level.
    """
    check_level(level)
    n = counts.n
    passed_b, passed_a = counts.both + counts.fixed, counts.both + counts.broken
    rate_b, rate_a = passed_b / n, passed_a / n
    of_b, of_a = wilson(passed_b, n, level), wilson(passed_a, n, level)
    phi = _correlation(counts)
    down = _joined(rate_b - of_b.lower, of_a.upper - rate_a, phi)
    up = _joined(of_b.upper - rate_b, rate_a - of_a.lower, phi)
    estimate = counts.difference
    interval = Interval("newcombe", level, estimate - down, estimate + up).clipped(-1.0, 1.0)
    return PairedDifference(estimate, interval, None, n, n, level, "newcombe")


def _joined(first: float, second: float, phi: float) -> float:
    return math.sqrt(max(0.0, first * first - 2.0 * phi * first * second + second * second))


def _correlation(counts: PairedCounts) -> float:
    both, fixed, broken, neither = counts.both, counts.fixed, counts.broken, counts.neither
    margins = (both + fixed) * (broken + neither) * (both + broken) * (fixed + neither)
    if margins == 0:
        return 0.0
    cross = float(both * neither - fixed * broken)
    if cross > 0.0:
        cross = max(cross - 0.5 * counts.n, 0.0)
    return cross / math.sqrt(margins)
