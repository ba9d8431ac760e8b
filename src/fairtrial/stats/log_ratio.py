"""Paired ratios of positive numbers such as seconds, tokens or dollars."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fairtrial.stats.arrays import as_aligned, as_values
from fairtrial.stats.checks import check_level
from fairtrial.stats.interval import Interval, PValue
from fairtrial.stats.paired.hodges_lehmann import hodges_lehmann


@dataclass(frozen=True, slots=True)
class PairedChange:
    """How a number changed from A to B: a ratio where all values are positive, else a difference.

    Attributes:
        scale: `ratio` or `difference`.
        estimate: B over A, or B less A; None without pairs.
        interval: On the same scale.
        p: Wilcoxon's exact two-sided p-value.
        n: Pairs.
        level: Confidence level.
        method: How it was made.
        reason: Why something is undefined, or what to beware of.
        clusters: Equals `n`: pairs are the units.
        seed: None; nothing is drawn.
    """

    scale: str
    estimate: float | None
    interval: Interval | None
    p: PValue | None
    n: int
    level: float
    method: str
    reason: str
    clusters: int
    seed: int | None = None

    def describe(self) -> str:
        """Return the change in words."""
        if self.estimate is None or self.interval is None:
            return f"No change can be given: {self.reason}."
        if self.scale == "ratio":
            low, high = (100.0 * (end - 1.0) for end in (self.interval.lower, self.interval.upper))
            return (
                f"B is {100.0 * (self.estimate - 1.0):+.2f} % against A over {self.n:,} pairs, "
                f"plausibly between {low:+.2f} % and {high:+.2f} %."
            )
        return (
            f"B is {self.estimate:+.4g} against A over {self.n:,} pairs, plausibly "
            f"{self.interval.describe()}."
        )


def paired_change(a: npt.ArrayLike, b: npt.ArrayLike, *, level: float = 0.95) -> PairedChange:
    """Return the typical change from A to B with an exact rank interval.

    Formula: Hodges-Lehmann on log(b/a) and exponentiated when every value is positive, else on
    b - a; p by the exact signed-rank test. Source: Hodges & Lehmann 1963.

    Use it for measured quantities, with pairs run in balanced random order AB, BA. It lies when a
    pair's two runs disturb each other, and it can give no verdict below 6 pairs.

    Args:
        a: The baseline's values.
        b: The candidate's, in the same order of pairs.
        level: Confidence level.

    Raises:
        ArgumentError: lengths differ or a value is not finite.
    """
    check_level(level)
    first = as_values("a", a)
    second = as_aligned("b", b, first)
    ratio = bool(first.size and (first > 0.0).all() and (second > 0.0).all())
    difference = hodges_lehmann(
        np.log(second) - np.log(first) if ratio else second - first, level=level
    )
    scale, method = (
        ("ratio", "log-ratio hodges-lehmann") if ratio else ("difference", "hodges-lehmann")
    )
    if difference.estimate is None or difference.interval is None:
        return PairedChange(scale, None, None, None, 0, level, method, "there are no pairs", 0)
    estimate, interval = difference.estimate, difference.interval
    if ratio:
        estimate = math.exp(estimate)
        interval = Interval(method, level, math.exp(interval.lower), math.exp(interval.upper))
    reason = "" if ratio else "not all values are positive, so there is no ratio"
    if first.size < 6:
        reason = "fewer than 6 pairs: no verdict is possible, whatever the values"
    return PairedChange(
        scale, estimate, interval, difference.p, first.size, level, method, reason, first.size
    )
