"""Dunnett's test: several independent groups against one control."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fairtrial.stats.arrays import FloatArray, as_values
from fairtrial.stats.chi import panel_nodes, scale_nodes
from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.normal_array import upper_tails

_REACH = 8.5
_SMOOTH = 0.9


@dataclass(frozen=True, slots=True)
class Dunnett:
    """Comparisons of groups with a control, adjusted for their number.

    Attributes:
        t: Statistic of each group; empty when undefined.
        p: Two-sided adjusted p-value of each group; empty when undefined.
        n: Values in all groups.
        df: Degrees of freedom of the pooled variance.
        method: `dunnett`.
        reason: Why it is undefined.
    """

    t: dict[str, float]
    p: dict[str, float]
    n: int
    df: int
    method: str = "dunnett"
    reason: str = ""

    def describe(self) -> str:
        """Return the comparisons in words."""
        if not self.p:
            return f"No comparison is possible: {self.reason}."
        return "; ".join(f"{name}: p = {p:.2g}" for name, p in self.p.items()) + " (Dunnett)."


def dunnett(control: npt.ArrayLike, groups: Mapping[str, npt.ArrayLike]) -> Dunnett:
    """Compare independent groups with a control, with one error rate for all.

    Formula: t_i with the pooled variance; p_i = P(max |T| >= |t_i|) by integrating over the shared
    control and the pooled scale. Source: Dunnett 1955, JASA 50:1096.

    Use it for groups measured on different cases, as a cross-check. It lies for arms that share
    cases, as nearly all do: use Holm over paired tests.

    Raises:
        ArgumentError: there is no group, or a group has no value.
    """
    base = as_values("control", control, least=1)
    if not groups:
        raise ArgumentError("groups", "needs at least one group")
    others = {name: as_values("groups", values, least=1) for name, values in groups.items()}
    everything = [base, *others.values()]
    n = sum(g.size for g in everything)
    df = n - len(everything)
    squares = sum(float(((g - g.mean()) ** 2).sum()) for g in everything)
    if df < 1 or squares == 0.0:
        return Dunnett({}, {}, n, df, reason="the groups show no spread")
    sd = math.sqrt(squares / df)
    t = {
        name: float(g.mean() - base.mean()) / (sd * math.sqrt(1.0 / g.size + 1.0 / base.size))
        for name, g in others.items()
    }
    weights = {name: g.size / (g.size + base.size) for name, g in others.items()}
    shares = tuple((math.sqrt(w), count) for w, count in sorted(Counter(weights.values()).items()))
    p = {name: _largest_exceeds(abs(value), shares, df) for name, value in t.items()}
    return Dunnett(t, p, n, df)


def _largest_exceeds(t: float, shares: tuple[tuple[float, int], ...], df: int) -> float:
    """Return P(max |T_i| >= t) with T_i = (sqrt(1-b²) Z_i + b Z_0)/S; shares hold b and how often.

    What is averaged over Z_0 and S is P(some |T_i| >= t), not its complement, so that small values
    keep their digits. It is even in Z_0, so half of the axis is enough.
    """
    scale, s_weight = scale_nodes(df)
    z, z_weight = panel_nodes(_edges(t, shares, df))
    z_weight = 2.0 * z_weight * np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    log_inside = np.zeros((scale.size, z.size))
    for share, count in shares:
        own = math.sqrt(1.0 - share * share)
        edge, shift = t * scale[:, None], share * z[None, :]
        outside = upper_tails((edge - shift) / own) + upper_tails((edge + shift) / own)
        with np.errstate(divide="ignore"):
            log_inside += count * np.log1p(-np.minimum(outside, 1.0))
    return min(1.0, float(s_weight @ -np.expm1(log_inside) @ z_weight))


def _edges(t: float, shares: tuple[tuple[float, int], ...], df: int) -> FloatArray:
    """Return edges of panels for Z_0, narrow where a group far larger than the control turns."""
    parts = [np.linspace(0.0, _REACH, 4)]
    spread = 9.0 / math.sqrt(2.0 * df)
    for share, _ in shares:
        width = math.sqrt(1.0 - share * share) / share
        if width < _SMOOTH:
            low, high = (t / share * math.exp(side * spread) for side in (-1.0, 1.0))
            low, high = max(0.0, low - 8.0 * width), min(_REACH, high + 8.0 * width)
            steps = max(0, math.ceil((high - low) / (3.0 * width)))
            parts.append(np.linspace(low, high, steps + 1))
    return np.unique(np.concatenate(parts))
