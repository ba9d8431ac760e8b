"""Boundaries for several looks at one comparison."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fairtrial.stats.checks import check_between, check_count
from fairtrial.stats.roots import find_root
from fairtrial.stats.sequential.recursion import (
    Surviving,
    check_information,
    crossing,
    start,
)
from fairtrial.stats.sequential.spending import obrien_fleming_spent
from fairtrial.stats.tails import normal_quantile, normal_sf

_LARGEST_Z = 37.0
"""Beyond it a double holds no tail; a look with such a bound cannot stop."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Critical values, one a look.

    Attributes:
        fractions: Information at the looks as a share of the plan.
        z: Stop at look k when |Z| >= z[k].
        nominal_p: The same as two-sided p-values: stop when p <= nominal_p[k].
        spent: Two-sided error spent by each look.
        alpha: The whole budget.
        method: `obrien-fleming spending` or `classic obrien-fleming`.
    """

    fractions: tuple[float, ...]
    z: tuple[float, ...]
    nominal_p: tuple[float, ...]
    spent: tuple[float, ...]
    alpha: float
    method: str

    def describe(self) -> str:
        """Return the boundaries in words."""
        looks = "; ".join(
            f"after {100.0 * t:.0f} % stop if p <= {p:.2g}"
            for t, p in zip(self.fractions, self.nominal_p, strict=True)
        )
        return (
            f"With these limits the chance of a false alarm over all {len(self.z)} looks "
            f"together is {100.0 * self.alpha:g} %: {looks}."
        )


def obrien_fleming_bounds(
    fractions: Sequence[float], alpha: float = 0.05, *, final: bool = True
) -> Bounds:
    """Return two-sided boundaries that spend alpha in O'Brien and Fleming's shape.

    Formula: c_k solves P(no earlier crossing, |Z_k| >= c_k) = spent(t_k) - spent(t_(k-1)), by
    recursive integration with the actual information. Source: Lan & DeMets 1983; Jennison &
    Turnbull 2000.

    Use it for `--stop-early`: looks may come at any time that does not depend on results. It lies
    when the planned total is changed after seeing results. The z statistic of a mean is not
    normal at small n: convert the look's own p-value and compare it with `nominal_p`.

    Args:
        fractions: Information at the looks so far over the planned total, increasing; may end
            below or above 1.
        alpha: Two-sided error over all looks.
        final: The last look is the last there will be, so it spends what is left.

    Raises:
        ArgumentError: fractions do not increase from above 0, or alpha is not in (0, 1).
    """
    check_between("alpha", alpha, 0.0, 1.0)
    levels = check_information("fractions", fractions)
    state = start()
    z: list[float] = []
    spent: list[float] = []
    for k, level in enumerate(levels):
        last = final and k == len(levels) - 1
        target = alpha if last else obrien_fleming_spent(level, alpha)
        z.append(_bound(state, level, target - (spent[-1] if spent else 0.0)))
        spent.append(target)
        if k + 1 < len(levels):
            state = state.advance(level, z[-1], levels[k + 1])
    return _bounds(levels, z, spent, alpha, "obrien-fleming spending")


def _bound(state: Surviving, level: float, budget: float) -> float:
    """Return the z at which exactly `budget` of the surviving mass crosses."""
    root = math.sqrt(level)

    def log_excess(c: float) -> float:
        return math.log(max(2.0 * state.above(level, c * root), 1e-320) / budget)

    if budget <= 1e-300 or log_excess(_LARGEST_Z) > 0.0:
        return _LARGEST_Z
    return find_root(log_excess, 0.0, _LARGEST_Z, tolerance=1e-10)


def classic_obrien_fleming_bounds(looks: int, alpha: float = 0.05) -> Bounds:
    """Return the classic boundaries C sqrt(K/k) for K equally spaced looks.

    Formula: one constant C with overall two-sided error alpha. Source: O'Brien & Fleming 1979,
    Biometrics 35:549.

    Use it to compare with textbooks. It lies when looks are not equally spaced; spending does not.

    Raises:
        ArgumentError: looks is below 1, or alpha is not in (0, 1).
    """
    check_between("alpha", alpha, 0.0, 1.0)
    k = check_count("looks", looks, 1)
    info = [(j + 1) / k for j in range(k)]
    shape = [1.0 / math.sqrt(t) for t in info]
    constant = find_root(
        lambda c: crossing(info, [c * s for s in shape]).total - alpha, 0.01, 8.0, tolerance=1e-9
    )
    z = [constant * s for s in shape]
    chances = crossing(info, z)
    spent = [
        math.fsum(chances.upper[: j + 1]) + math.fsum(chances.lower[: j + 1]) for j in range(k)
    ]
    return _bounds(info, z, spent, alpha, "classic obrien-fleming")


def _bounds(
    fractions: Sequence[float], z: list[float], spent: list[float], alpha: float, method: str
) -> Bounds:
    nominal = tuple(2.0 * normal_sf(c) for c in z)
    return Bounds(tuple(fractions), tuple(z), nominal, tuple(spent), alpha, method)


def z_of_p(p: float) -> float:
    """Return the z whose two-sided tail is p, to compare a look's p-value with a boundary.

    Raises:
        ArgumentError: p is outside [0, 1].
    """
    if p == 0.0:
        return _LARGEST_Z
    if p == 1.0:
        return 0.0
    return -normal_quantile(0.5 * check_between("p", p, 0.0, 1.0))
