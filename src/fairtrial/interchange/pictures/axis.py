"""Scales: from values to pixels, with round numbers to mark."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_STEPS = (1.0, 2.0, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class Axis:
    """A scale.

    Attributes:
        low: Its first value.
        high: Its last value; more than `low`.
        ticks: Values to mark with their labels.
    """

    low: float
    high: float
    ticks: Sequence[tuple[float, str]]

    def share(self, value: float) -> float:
        """Return how far along a value is, from 0 to 1; what is beyond an end is at the end."""
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)


def around_zero(reach: float, label: Callable[[float], str], most: int = 3) -> Axis:
    """Return a scale as wide to the left of 0 as to the right, which ends at a round number."""
    step = round_step(reach if reach > 0.0 else 1.0, most)
    count = max(1, math.ceil(reach / step - 1e-9))
    high = step * count
    return Axis(-high, high, [(v, label(v)) for v in _multiples(step, -count, count)])


def from_zero(high: float, label: Callable[[float], str], most: int = 4) -> Axis:
    """Return a scale from 0 to a round number."""
    step = round_step(high if high > 0.0 else 1.0, most)
    count = max(1, math.ceil(high / step - 1e-9))
    return Axis(0.0, step * count, [(v, label(v)) for v in _multiples(step, 0, count)])


def round_step(reach: float, most: int) -> float:
    """Return the smallest of 1, 2 or 5 times a power of ten that needs at most so many steps."""
    least = reach / most
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * step for step in _STEPS if power * step >= least * (1.0 - 1e-9))


def _multiples(step: float, first: int, last: int) -> list[float]:
    return [step * number for number in range(first, last + 1)]
