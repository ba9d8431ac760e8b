"""Is the candidate no worse than a margin, or the same within one?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy.typing as npt

from fairtrial.stats.checks import check_between, check_finite
from fairtrial.stats.interval import Interval
from fairtrial.stats.paired.student import cluster_t
from fairtrial.stats.tails import t_sf


@dataclass(frozen=True, slots=True)
class MarginTest:
    """A difference held against a margin.

    Attributes:
        non_inferior: The interval lies above -margin; None when there is no interval.
        equivalent: The interval lies within ±margin; None like it.
        margin: The largest loss that does not matter.
        interval: Two-sided interval of the difference.
        p_non_inferior: One-sided p for "worse by the margin or more"; None where the interval is
            not a t interval.
        p_equivalent: The larger of both one-sided p (TOST); None like it.
        n: Cases.
        level: Confidence level of the interval.
        method: How the interval was made.
        reason: Why nothing can be said.
    """

    non_inferior: bool | None
    equivalent: bool | None
    margin: float
    interval: Interval | None
    p_non_inferior: float | None
    p_equivalent: float | None
    n: int
    level: float
    method: str
    reason: str = ""

    def describe(self) -> str:
        """Return the finding in words."""
        if self.interval is None:
            return f"Nothing can be said against the margin of {self.margin:g}: {self.reason}."
        worst = f"the candidate may be as low as {self.interval.lower:+.4g}"
        if self.equivalent:
            return f"The arms are the same within {self.margin:g}; {worst}."
        if self.non_inferior:
            return f"The candidate is not worse by {self.margin:g} or more; {worst}."
        return f"A loss of {self.margin:g} cannot be ruled out: {worst}."


def margin_test(interval: Interval | None, n: int, margin: float, reason: str = "") -> MarginTest:
    """Hold an interval of the difference against a margin.

    Formula: non-inferior when the lower end of the two-sided interval is above -margin;
    equivalent when both ends are within ±margin. Source: the confidence-interval form of the test
    (e.g. Piaggio et al. 2012, JAMA 308:2594).

    Use it with the interval the comparison reports. Ties do not pass for free: twenty ties on one
    trial leave ±0.16. It lies when the margin is chosen after seeing the interval.

    Raises:
        ArgumentError: margin is not positive.
    """
    check_between("margin", margin, 0.0, float("inf"))
    if interval is None:
        why = reason or "there is no interval"
        return MarginTest(None, None, margin, None, None, None, n, 0.95, "none", why)
    low, high = interval.lower > -margin, interval.upper < margin
    return MarginTest(
        low, low and high, margin, interval, None, None, n, interval.level, interval.method
    )


def non_inferiority_t(
    d: npt.ArrayLike,
    margin: float,
    *,
    clusters: npt.ArrayLike | None = None,
    level: float = 0.95,
) -> MarginTest:
    """Return non-inferiority and equivalence by t tests, with p-values.

    Formula: p = P(T > (mean + margin)/SE) for non-inferiority; TOST: the larger of it and the
    mirrored one. Source: Schuirmann 1987, J Pharmacokinet Biopharm 15:657.

    Use it for graded scores. It lies for pass/fail at small n: hold the guarded interval against
    the margin then.

    Args:
        d: One difference a case.
        margin: The largest loss that does not matter; positive.
        clusters: One label a case; None when cases are independent.
        level: Confidence level of the two-sided interval.

    Raises:
        ArgumentError: d does not fit, or margin is not positive.
    """
    check_finite("margin", margin)
    found = cluster_t(d, clusters=clusters, level=level)
    plain = margin_test(found.interval, found.n, margin, found.reason)
    if found.interval is None or found.estimate is None or found.se is None:
        return plain
    df = found.clusters - 1
    low = t_sf((found.estimate + margin) / found.se, df)
    high = t_sf((margin - found.estimate) / found.se, df)
    return MarginTest(
        plain.non_inferior,
        plain.equivalent,
        margin,
        found.interval,
        low,
        max(low, high),
        found.n,
        level,
        found.method,
    )
