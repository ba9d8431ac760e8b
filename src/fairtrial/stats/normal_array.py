"""The normal tail of many values at once; numpy has no error function."""

from __future__ import annotations

import math

import numpy as np

from fairtrial.stats.arrays import FloatArray

_erfc = np.frompyfunc(math.erfc, 1, 1)


def upper_tails(z: FloatArray) -> FloatArray:
    """Return P(Z > z) of the standard normal for each z, precise in both tails."""
    return np.asarray(0.5 * _erfc(z / math.sqrt(2.0)), dtype=np.float64)
