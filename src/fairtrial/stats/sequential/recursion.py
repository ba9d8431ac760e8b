"""Chances of crossing boundaries, look by look, by numerical integration.

With I the information at a look, S = Z sqrt(I) has independent normal increments. Its density on
the continuation interval is carried from look to look on Gauss-Legendre nodes, at least eight
in each standard deviation of the narrower neighbouring increment (Armitage, McPherson & Rowe
1969; Jennison & Turnbull 2000, chapter 19).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairtrial.stats.arrays import FloatArray, as_values
from fairtrial.stats.checks import check_finite
from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.normal_array import upper_tails

_PANEL = 16
_PANEL_WIDTH = 2.0
_MOST_PANELS = 400
_REACH = 9.0
_INV_SQRT_2PI = 1.0 / math.sqrt(2.0 * math.pi)


@dataclass(frozen=True, slots=True)
class Surviving:
    """The part of the distribution that has not crossed yet, after a look.

    Attributes:
        info: Information at the look; 0 before the first.
        nodes: Values of S = Z sqrt(info).
        mass: Density times quadrature weight at each node; sums to the chance to go on.
    """

    info: float
    nodes: FloatArray
    mass: FloatArray

    def above(self, info: float, score: float, drift: float = 0.0) -> float:
        """Return the chance to have gone on so far and then have S > score at `info`."""
        step = info - self.info
        sd = math.sqrt(step)
        z = (score - self.nodes - drift * step) / sd
        return float(self.mass @ upper_tails(z))

    def below(self, info: float, score: float, drift: float = 0.0) -> float:
        """Return the chance to have gone on so far and then have S < score at `info`."""
        step = info - self.info
        sd = math.sqrt(step)
        z = (score - self.nodes - drift * step) / sd
        return float(self.mass @ upper_tails(-z))

    def advance(
        self, info: float, bound: float, next_info: float | None, drift: float = 0.0
    ) -> Surviving:
        """Return what goes on after a look at `info` with boundary |Z| < bound.

        Args:
            info: Information at the look.
            bound: Critical z of the look.
            next_info: Information of the look after it, if there is one; sets the grid.
            drift: Mean of S gained for each unit of information.
        """
        step = info - self.info
        sd = math.sqrt(step)
        finest = sd if next_info is None else min(sd, math.sqrt(next_info - info))
        edge = bound * math.sqrt(info)
        middle = drift * info
        low = max(-edge, middle - _REACH * math.sqrt(info))
        high = min(edge, middle + _REACH * math.sqrt(info))
        if low >= high:
            return Surviving(info, np.zeros(1), np.zeros(1))
        panels = min(_MOST_PANELS, max(2, math.ceil((high - low) / (_PANEL_WIDTH * finest))))
        at, weight = np.polynomial.legendre.leggauss(_PANEL)
        half = 0.5 * (high - low) / panels
        centres = low + half * (2.0 * np.arange(panels) + 1.0)
        nodes = (centres[:, None] + half * at[None, :]).ravel()
        weights = np.tile(half * weight, panels)
        z = (nodes[:, None] - (self.nodes + drift * step)[None, :]) / sd
        density = np.exp(-0.5 * z * z) @ self.mass * (_INV_SQRT_2PI / sd)
        return Surviving(info, nodes, density * weights)


def start() -> Surviving:
    """Return the state before the first look: all mass at S = 0."""
    return Surviving(0.0, np.zeros(1), np.ones(1))


def check_information(argument: str, info: Sequence[float]) -> list[float]:
    """Return the information levels as floats.

    Raises:
        ArgumentError: there are none, or they do not increase from above 0.
    """
    levels: list[float] = as_values(argument, info).tolist()
    if not levels:
        raise ArgumentError(argument, "needs at least one look")
    previous = 0.0
    for level in levels:
        if level <= previous:
            raise ArgumentError(argument, f"must increase from above 0, got {levels}")
        previous = level
    return levels


def check_bounds(argument: str, bounds: Sequence[float], looks: int) -> list[float]:
    """Return the critical values as floats.

    Raises:
        ArgumentError: there is not one a look, or one is negative.
    """
    values: list[float] = as_values(argument, bounds).tolist()
    if len(values) != looks:
        raise ArgumentError(argument, f"needs one for each of {looks} looks")
    if min(values) < 0.0:
        raise ArgumentError(argument, f"must not be negative, got {values}")
    return values


@dataclass(frozen=True, slots=True)
class Crossing:
    """Chances to cross at each look, and not before.

    Attributes:
        upper: At the upper boundary, a look each.
        lower: At the lower boundary, a look each.
    """

    upper: tuple[float, ...]
    lower: tuple[float, ...]

    @property
    def total(self) -> float:
        """The chance to cross at all."""
        return math.fsum(self.upper) + math.fsum(self.lower)


def crossing(info: Sequence[float], bounds: Sequence[float], drift: float = 0.0) -> Crossing:
    """Return the chances to cross two-sided boundaries |Z_k| >= bounds[k].

    Args:
        info: Increasing information at the looks; Var(estimate) = 1/info.
        bounds: Critical z, one a look.
        drift: The true effect, in the units of the estimate; 0 under "no change".

    Raises:
        ArgumentError: information does not increase, or there is not one bound a look.
    """
    levels = check_information("info", info)
    critical = check_bounds("bounds", bounds, len(levels))
    effect = check_finite("drift", drift)
    state = start()
    upper, lower = [], []
    for k, (level, bound) in enumerate(zip(levels, critical, strict=True)):
        edge = bound * math.sqrt(level)
        upper.append(state.above(level, edge, effect))
        lower.append(state.below(level, -edge, effect))
        if k + 1 < len(levels):
            state = state.advance(level, bound, levels[k + 1], effect)
    return Crossing(tuple(upper), tuple(lower))
