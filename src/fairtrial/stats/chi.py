"""Integration nodes over the scale of an estimated standard deviation."""

from __future__ import annotations

import math

import numpy as np

from fairtrial.stats.arrays import FloatArray


def scale_nodes(df: float, turn: float = 0.0, width: float = 1.0) -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights of S = sqrt(chi²(df)/df): sum(w f(s)) is E[f(S)].

    Composite Gauss-Legendre in log S, whose density is smooth for every df; at few degrees of
    freedom its lower tail is long, so the range follows df.

    Args:
        df: Degrees of freedom.
        turn: Where f goes steeply from one level to another; 0 when it is smooth.
        width: The standard deviation of that turn; the nodes are denser around it.
    """
    low = -max(13.0 / math.sqrt(2.0 * df), 36.0 / df)
    high = min(9.0 / math.sqrt(2.0 * df), 3.0)
    edges = np.linspace(low, high, max(6, math.ceil(high - low)) + 1)
    if turn > 0.0:
        around = math.log(turn) + width / turn * np.linspace(-10.0, 10.0, 9)
        edges = np.union1d(edges, around[(around > low) & (around < high)])
    log_s, log_weight = panel_nodes(edges)
    constant = math.log(2.0) + 0.5 * df * math.log(0.5 * df) - math.lgamma(0.5 * df)
    density = np.exp(constant + df * log_s - 0.5 * df * np.exp(2.0 * log_s))
    return np.exp(log_s), density * log_weight


def panel_nodes(edges: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights of Gauss-Legendre quadrature, 16 nodes between two edges."""
    at, weight = np.polynomial.legendre.leggauss(16)
    half = 0.5 * np.diff(edges)
    nodes = edges[:-1, None] + half[:, None] * (1.0 + at[None, :])
    return nodes.ravel(), (half[:, None] * weight[None, :]).ravel()
