"""What looking early costs and saves."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fairtrial.stats.checks import check_between
from fairtrial.stats.roots import find_root
from fairtrial.stats.sequential.bounds import Bounds
from fairtrial.stats.sequential.recursion import crossing
from fairtrial.stats.tails import normal_quantile


@dataclass(frozen=True, slots=True)
class SequentialDesign:
    """Cost and saving of a design, relative to one look at a fixed number of cases.

    Attributes:
        inflation: Largest number of cases needed, over the fixed number with the same power.
        average_h1: Mean number of cases when the effect is the planned one, over the fixed number.
        average_h0: The same when nothing changed.
        cumulative_power: Chance to have stopped by each look under the planned effect.
        power: The planned power.
        bounds: The boundaries.
        method: `recursive integration`.
    """

    inflation: float
    average_h1: float
    average_h0: float
    cumulative_power: tuple[float, ...]
    power: float
    bounds: Bounds
    method: str = "recursive integration"

    def describe(self) -> str:
        """Return the design in words."""
        return (
            f"Looking {len(self.bounds.z)} times needs at most "
            f"{100.0 * (self.inflation - 1.0):.1f} % more cases than one look; if the effect is "
            f"real, it needs {100.0 * (1.0 - self.average_h1):.0f} % fewer on average."
        )


def sequential_design(bounds: Bounds, power: float = 0.8) -> SequentialDesign:
    """Return what a set of boundaries costs at a given power.

    Formula: the drift with that chance to cross, squared, over (z(1-alpha/2) + z(power))²; mean
    information at stopping by the recursion. Source: Jennison & Turnbull 2000, chapter 2.

    Use it before a run, to show the price of early looks. It lies where the statistic is far from
    normal (n below about 20).

    Raises:
        ArgumentError: power is not between alpha and 1.
    """
    check_between("power", power, bounds.alpha, 1.0)
    scale = bounds.fractions[-1]
    info = [t / scale for t in bounds.fractions]
    fixed = -normal_quantile(0.5 * bounds.alpha) + normal_quantile(power)
    drift = find_root(
        lambda effect: crossing(info, bounds.z, effect).total - power,
        0.0,
        3.0 * fixed + 3.0,
        tolerance=1e-9,
    )
    inflation = (drift / fixed) ** 2
    under_h1 = crossing(info, bounds.z, drift)
    stops = [u + low for u, low in zip(under_h1.upper, under_h1.lower, strict=True)]
    return SequentialDesign(
        inflation=inflation,
        average_h1=inflation * _mean_information(info, stops),
        average_h0=inflation
        * _mean_information(info, [2.0 * u for u in crossing(info, bounds.z).upper]),
        cumulative_power=tuple(math.fsum(stops[: k + 1]) for k in range(len(stops))),
        power=power,
        bounds=bounds,
    )


def _mean_information(info: list[float], stops: list[float]) -> float:
    early = math.fsum(stops[:-1])
    return math.fsum(t * p for t, p in zip(info[:-1], stops[:-1], strict=True)) + (1.0 - early)
