"""The best of many: how much better than it is the highest of equal measurements looks."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fairtrial.stats.checks import check_at_least, check_count
from fairtrial.stats.tails import normal_cdf, normal_pdf

_STEP = 1.0 / 64.0
_REACH = 12.0


@dataclass(frozen=True, slots=True)
class Optimism:
    """What the highest of several measurements gains by being chosen.

    Attributes:
        estimate: Its expected excess over the truth, in the unit of `se`.
        n: Measurements.
        se: Standard error of each.
        method: `normal order statistic`.
    """

    estimate: float
    n: int
    se: float
    method: str = "normal order statistic"

    def describe(self) -> str:
        """Return the excess in words."""
        return (
            f"Of {self.n:,} that are equally good, the one that measures best looks "
            f"{100 * self.estimate:.1f} points better than it is, on average."
        )


def expected_maximum(n: int) -> float:
    """Return the expected highest of n independent standard normal draws.

    Formula: the integral of z n phi(z) Phi(z)^(n-1), by the trapezoidal rule, which converges
    geometrically for it. Source: Harter 1961, Biometrika 48:151, has a table.

    Raises:
        ArgumentError: n is no count from 1.
    """
    many = check_count("n", n, 1)
    if many == 1:
        return 0.0
    steps = round(_REACH / _STEP)
    return _STEP * math.fsum(_integrand(k * _STEP, many) for k in range(-steps, steps + 1))


def _integrand(z: float, n: int) -> float:
    below = normal_cdf(z)
    return z * n * normal_pdf(z) * below ** (n - 1) if below > 0.0 else 0.0


def best_of(n: int, se: float) -> Optimism:
    """Return how much the best of n equally good configurations is flattered by the choice.

    Formula: se times the expected highest of n standard normal draws.

    Use it to judge a "best so far" among n that were tried on the same cases. It lies, upwards,
    when the n resemble each other; and when they differ in truth it says only what the best would
    gain if they did not.

    Raises:
        ArgumentError: n is no count from 1, or the standard error is negative.
    """
    error = check_at_least("se", se, 0.0)
    return Optimism(expected_maximum(n) * error, n, error)
