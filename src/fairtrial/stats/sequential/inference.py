"""What may be said after an early stop."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fairtrial.stats.checks import check_count, check_level, check_within
from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.interval import Interval, PValue
from fairtrial.stats.roots import find_root
from fairtrial.stats.sequential.recursion import check_bounds, check_information, start

_LARGEST_Z = 1e6


@dataclass(frozen=True, slots=True)
class SequentialResult:
    """The honest reading of a comparison that was looked at more than once.

    Attributes:
        naive: The plain estimate; too far from zero after an early stop.
        median_unbiased: The estimate to quote: as often too high as too low.
        interval: The stage-wise interval around it.
        repeated: The repeated interval, valid at every look whether one stops or not.
        p: The stage-wise two-sided p-value.
        look: The look it stopped at, from 1.
        looks: Looks there were in the plan given.
        n: Information at the stop, 1/SE².
        level: Confidence level.
        method: `stage-wise ordering`.
    """

    naive: float
    median_unbiased: float
    interval: Interval
    repeated: Interval
    p: PValue
    look: int
    looks: int
    n: float
    level: float
    method: str = "stage-wise ordering"

    def describe(self) -> str:
        """Return the result in words."""
        return (
            f"Stopped at look {self.look}. The plain estimate {self.naive:+.4g} is optimistic, "
            f"because a lucky streak ends a run early; the fair one is "
            f"{self.median_unbiased:+.4g}, plausibly {self.interval.describe()}. "
            f"{self.p.describe().capitalize()}."
        )


def sequential_inference(
    info: Sequence[float],
    bounds: Sequence[float],
    stopped_look: int,
    z: float,
    level: float = 0.95,
) -> SequentialResult:
    """Return estimate, intervals and p-value after stopping at a look.

    Formula: outcomes are ordered by the look first, then by z; P(this or more extreme | effect)
    is inverted at 1/2 for the median-unbiased estimate and at alpha/2 for the interval. Repeated
    interval: estimate ± c_k/sqrt(info_k). Source: Tsiatis, Rosner & Mehta 1984, Biometrics
    40:797; Jennison & Turnbull 2000, chapter 8; repeated: Jennison & Turnbull 1989, JRSS B 51:305.

    Use it after any run with early looks. It lies when the looks depended on results.

    Args:
        info: Information at the looks, 1/SE² of the estimate, at least to the stop.
        bounds: Critical z of the looks.
        stopped_look: The look it stopped at, from 1.
        z: The statistic there, estimate/SE.
        level: Confidence level.

    Raises:
        ArgumentError: information does not increase, or the looks do not match.
    """
    check_level(level)
    levels = check_information("info", info)
    critical = check_bounds("bounds", bounds, len(levels))
    k = check_count("stopped_look", stopped_look, 1)
    if k > len(levels):
        raise ArgumentError("stopped_look", f"is {k}, but there are {len(levels)} looks")
    sign = 1.0 if check_within("z", z, -_LARGEST_Z, _LARGEST_Z) >= 0.0 else -1.0
    size = abs(float(z))

    def more_extreme(effect: float) -> float:
        return _tail(levels[:k], critical[:k], size, effect)

    here = levels[k - 1]
    naive = size / math.sqrt(here)
    tail = 0.5 * (1.0 - level)
    ends = [
        _solve(more_extreme, target, naive, 1.0 / math.sqrt(here))
        for target in (tail, 0.5, 1.0 - tail)
    ]
    low, middle, high = ends if sign > 0.0 else [-end for end in reversed(ends)]
    upper = more_extreme(0.0)
    half = critical[k - 1] / math.sqrt(here)
    return SequentialResult(
        naive=sign * naive,
        median_unbiased=middle,
        interval=Interval("stage-wise", level, low, high),
        repeated=Interval("repeated", level, sign * naive - half, sign * naive + half),
        p=PValue("stage-wise", min(1.0, 2.0 * min(upper, 1.0 - upper))),
        look=k,
        looks=len(levels),
        n=here,
        level=level,
    )


def _tail(info: Sequence[float], bounds: Sequence[float], z: float, effect: float) -> float:
    """Return P(stopped above earlier, or at this look with Z >= z)."""
    state = start()
    total = 0.0
    for k in range(len(info) - 1):
        total += state.above(info[k], bounds[k] * math.sqrt(info[k]), effect)
        state = state.advance(info[k], bounds[k], info[k + 1], effect)
    return total + state.above(info[-1], z * math.sqrt(info[-1]), effect)


def _solve(
    function: Callable[[float], float], target: float, start_at: float, unit: float
) -> float:
    low, high = start_at - 4.0 * unit, start_at + 4.0 * unit
    while function(low) > target:
        low -= 4.0 * unit
    while function(high) < target:
        high += 4.0 * unit
    return find_root(lambda effect: function(effect) - target, low, high, tolerance=1e-9)
