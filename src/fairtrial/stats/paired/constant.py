"""The interval when every case shows the same difference."""

from __future__ import annotations

from fairtrial.stats.checks import check_at_least, check_count, check_finite, check_level
from fairtrial.stats.interval import Interval


def constant_interval(
    value: float, n: int, *, score_range: float = 1.0, level: float = 0.95
) -> Interval:
    """Return an interval around a difference that n independent units agree on.

    Formula: value ± (1 - (alpha/2)^(1/n)) * range, cut to the possible differences: the largest
    share of unlike cases that n draws would miss with probability alpha/2, each taken to be one
    range off. It is the "rule of three" (Hanley & Lippman-Hand 1983, JAMA 249:1743).

    Use it for bounded scores without variance: n equal results do not prove that the next one is
    equal. It lies where a single case can be off by more than one range, and it cannot exist for
    unbounded scores.

    Args:
        value: The common difference.
        n: Cases, or clusters when there are any.
        score_range: Highest less lowest possible score.
        level: Confidence level.

    Raises:
        ArgumentError: n is below 1, or the range is not positive.
    """
    size = check_count("n", n, 1)
    span = check_at_least("score_range", score_range, 1e-300)
    centre = check_finite("value", value)
    half = (1.0 - (0.5 * (1.0 - check_level(level))) ** (1.0 / size)) * span
    return Interval("rule of three", level, centre - half, centre + half).clipped(-span, span)
