"""How much of the error budget may be used up by when."""

from __future__ import annotations

import math

from fairtrial.stats.checks import check_at_least, check_between
from fairtrial.stats.tails import normal_quantile, normal_sf


def obrien_fleming_spent(fraction: float, alpha: float = 0.05) -> float:
    """Return the two-sided error that may be spent by a fraction of the information.

    Formula: per side 2 - 2 Phi(z(1-alpha/4) / sqrt(t)), doubled; all of alpha from t = 1 on.
    Source: Lan & DeMets 1983, Biometrika 70:659, in the shape of O'Brien & Fleming 1979.

    Use it as the default: early looks cost next to nothing and stop only for large effects. It
    lies when the number of looks, or the planned total, is chosen after seeing results.

    Raises:
        ArgumentError: fraction is not positive, or alpha not between 0 and 1.
    """
    check_between("alpha", alpha, 0.0, 1.0)
    t = min(1.0, check_at_least("fraction", fraction, 1e-12))
    if t == 1.0:
        return alpha
    return 4.0 * normal_sf(-normal_quantile(0.25 * alpha) / math.sqrt(t))
