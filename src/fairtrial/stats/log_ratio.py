"""Paired ratios of positive numbers such as seconds, tokens or dollars."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fairtrial.stats.arrays import FloatArray, as_aligned, as_values
from fairtrial.stats.checks import check_level
from fairtrial.stats.interval import Interval, PValue
from fairtrial.stats.paired.hodges_lehmann import hodges_lehmann
from fairtrial.stats.paired.result import PairedDifference

NO_RATIO = "not all values are positive, so there is no ratio"
ROUNDING = 1e-12
"""Widths below this share of what they surround are no spread."""


@dataclass(frozen=True, slots=True)
class PairedChange:
    """How a number changed from A to B, as a difference and, where all are positive, as a ratio.

    What is tested is the ratio where there is one: times, tokens and dollars scatter in proportion
    to their size, so that ratios are the more alike over pairs.

    Attributes:
        scale: What is tested: `ratio` or `difference`.
        estimate: B over A, or B less A; None without pairs.
        interval: On the same scale; of no width when (nearly) all pairs changed by the same.
        p: Wilcoxon's exact two-sided p-value, on the same scale.
        n: Pairs.
        level: Confidence level.
        method: How it was made.
        reason: Why something is undefined, or what to beware of.
        difference: B less A, whatever is tested.
        varies: Whether not all pairs have the same ratio, and whether not all the same difference.
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
    difference: PairedDifference
    varies: tuple[bool, bool]
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

    Formula: Hodges-Lehmann on b - a, and, when every value is positive, on log(b/a), exponentiated;
    p of what is tested by the exact signed-rank test. Source: Hodges & Lehmann 1963.

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
    gaps = second - first
    plain = hodges_lehmann(gaps, level=level)
    logs = np.log(second) - np.log(first) if ratio else gaps
    tested = hodges_lehmann(logs, level=level) if ratio else plain
    scale, method = (
        ("ratio", "log-ratio hodges-lehmann") if ratio else ("difference", "hodges-lehmann")
    )
    varies = (ratio and _varies(logs), _varies(gaps))
    if tested.estimate is None or tested.interval is None:
        none = "there are no pairs"
        return PairedChange(scale, None, None, None, 0, level, method, none, plain, varies, 0)
    estimate, interval = tested.estimate, tested.interval
    if ratio:
        estimate = math.exp(estimate)
        interval = Interval(method, level, math.exp(interval.lower), math.exp(interval.upper))
    reason = "" if ratio else NO_RATIO
    if first.size < 6:
        reason = "fewer than 6 pairs: no verdict is possible, whatever the values"
    n = first.size
    return PairedChange(
        scale, estimate, interval, tested.p, n, level, method, reason, plain, varies, n
    )


def _varies(values: FloatArray) -> bool:
    """Return whether values differ by more than rounding."""
    if values.size < 2:
        return False
    largest = float(np.abs(values).max())
    return bool(np.ptp(values) > ROUNDING * largest)
