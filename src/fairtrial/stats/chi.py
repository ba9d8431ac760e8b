"""Integration nodes over the scale of an estimated standard deviation."""

from __future__ import annotations

import math

import numpy as np

from fairtrial.stats.arrays import FloatArray


def scale_nodes(df: float) -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights of S = sqrt(chi²(df)/df): sum(w f(s)) is E[f(S)].

    Composite Gauss-Legendre in log S, whose density is smooth for every df; at few degrees of
    freedom its lower tail is long, so the range follows df.
    """
    low = -max(9.0 / math.sqrt(2.0 * df), 36.0 / df)
    high = min(9.0 / math.sqrt(2.0 * df), 3.0)
    panels = max(6, math.ceil(high - low))
    at, weight = np.polynomial.legendre.leggauss(16)
    half = 0.5 * (high - low) / panels
    centres = low + half * (2.0 * np.arange(panels) + 1.0)
    log_s = (centres[:, None] + half * at[None, :]).ravel()
    constant = math.log(2.0) + 0.5 * df * math.log(0.5 * df) - math.lgamma(0.5 * df)
    density = np.exp(constant + df * log_s - 0.5 * df * np.exp(2.0 * log_s))
    return np.exp(log_s), density * np.tile(half * weight, panels)
