"""Several measured quantities of two programs: which changed?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy.typing as npt

from fairtrial.model.delta import Direction
from fairtrial.stats.interval import Interval
from fairtrial.stats.log_ratio import NO_RATIO, ROUNDING, PairedChange, paired_change
from fairtrial.stats.multiplicity import benjamini_hochberg, holm

Correction = Literal["holm", "bh", "none"]
"""How p-values allow for the number of metrics."""

CONSTANT = "every pair changed by exactly this, so there is no interval"
MOSTLY = "most pairs changed by exactly this, so there is no interval"


@dataclass(frozen=True, slots=True)
class Size:
    """How much a metric changed, on one scale.

    Attributes:
        estimate: B over A, or B less A; None where it is undefined.
        interval: None when it is undefined, or has no width: that would be false certainty.
        reason: Why there is no estimate or no interval; empty when there are both.
    """

    estimate: float | None
    interval: Interval | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class MetricChange:
    """One metric's change with its place among the others.

    Attributes:
        change: Estimate, interval and p-value.
        p_adjusted: p that allows for the other metrics; None without pairs.
        verdict: Better or worse needs an interval without "no change" and p_adjusted <= 1 - level.
        lower_is_better: How the metric counts.
    """

    change: PairedChange
    p_adjusted: float | None
    verdict: Direction
    lower_is_better: bool

    @property
    def ratio(self) -> Size:
        """B over A."""
        if self.change.scale != "ratio":
            return Size(None, None, NO_RATIO)
        return _size(self.change.estimate, self.change.interval, self.change, 0)

    @property
    def difference(self) -> Size:
        """B less A."""
        found = self.change.difference
        return _size(found.estimate, found.interval, self.change, 1)

    @property
    def tested(self) -> Size:
        """The one of the two that p and the verdict speak of."""
        return self.ratio if self.change.scale == "ratio" else self.difference

    def describe(self) -> str:
        """Return the change in words."""
        if self.p_adjusted is None:
            return self.change.describe()
        return (
            f"{self.change.describe()} {self.verdict.value.capitalize()} "
            f"(p = {self.p_adjusted:.2g}, adjusted for all metrics)."
        )


def metric_changes(
    metrics: Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike]],
    *,
    higher_is_better: frozenset[str] = frozenset(),
    correction: Correction = "holm",
    level: float = 0.95,
) -> dict[str, MetricChange]:
    """Return each metric's change from A to B with verdicts that allow for their number.

    Args:
        metrics: Name -> (A's values, B's values) over the same pairs.
        higher_is_better: Names of the metrics where more is better.
        correction: How p-values allow for the number of metrics.
        level: Confidence level.

    Raises:
        ArgumentError: values do not fit.
    """
    changes = {name: paired_change(a, b, level=level) for name, (a, b) in metrics.items()}
    tested = [name for name, change in changes.items() if change.p is not None]
    p_values = _adjusted([c.p.value for c in changes.values() if c.p is not None], correction)
    adjusted = dict(zip(tested, p_values, strict=True))
    result = {}
    for name, change in changes.items():
        lower = name not in higher_is_better
        p = float(adjusted[name]) if name in adjusted else None
        result[name] = MetricChange(change, p, _verdict(change, p, lower=lower), lower)
    return result


def _adjusted(p: Sequence[float], correction: Correction) -> Sequence[float]:
    if correction == "none":
        return p
    adjust = holm if correction == "holm" else benjamini_hochberg
    return [float(value) for value in adjust(p)]


def _verdict(change: PairedChange, p: float | None, *, lower: bool) -> Direction:
    if p is None or change.estimate is None or change.interval is None or change.n < 6:
        return Direction.INCONCLUSIVE
    same = 1.0 if change.scale == "ratio" else 0.0
    if p > 1.0 - change.level + 1e-12 or not change.interval.excludes(same):
        return Direction.INCONCLUSIVE
    return Direction.BETTER if (change.estimate < same) == lower else Direction.WORSE


def _size(
    estimate: float | None, interval: Interval | None, change: PairedChange, place: int
) -> Size:
    if estimate is None or interval is None:
        return Size(None, None, change.reason or "there are no pairs")
    ends = max(abs(interval.lower), abs(interval.upper))
    if interval.width > ROUNDING * ends:
        return Size(estimate, interval)
    if change.n == 1:
        return Size(estimate, None, "one pair has no interval")
    return Size(estimate, None, MOSTLY if change.varies[place] else CONSTANT)
