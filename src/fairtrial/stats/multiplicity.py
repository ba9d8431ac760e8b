"""Several comparisons at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fairtrial.stats.arrays import FloatArray, as_values
from fairtrial.stats.checks import check_count, check_level
from fairtrial.stats.errors import ArgumentError


def holm(p: npt.ArrayLike) -> FloatArray:
    """Return p-values adjusted so that one false alarm among all is as rare as each claims.

    Formula: the i-th smallest times (m - i + 1), made monotone, at most 1. Source: Holm 1979,
    Scand J Stat 6:65.

    Use it for several arms or metrics against one baseline. It never lies, whatever the
    dependence; it only loses power.

    Raises:
        ArgumentError: a p-value is outside [0, 1].
    """
    values = _checked(p)
    order = np.argsort(values, kind="stable")
    factors = np.arange(values.size, 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(np.maximum.accumulate(values[order] * factors), 1.0)
    return adjusted


def benjamini_hochberg(p: npt.ArrayLike) -> FloatArray:
    """Return p-values adjusted so that of those called significant the claimed share is false.

    Formula: the i-th smallest times m/i, made monotone from above, at most 1. Source: Benjamini &
    Hochberg 1995, JRSS B 57:289.

    Use it to screen many slices for a closer look. It lies as a proof about any one of them.

    Raises:
        ArgumentError: a p-value is outside [0, 1].
    """
    values = _checked(p)
    order = np.argsort(values, kind="stable")[::-1]
    factors = values.size / np.arange(values.size, 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(np.minimum.accumulate(values[order] * factors), 1.0)
    return adjusted


def bonferroni_level(level: float, comparisons: int) -> float:
    """Return the level of each of several intervals that hold together at `level`.

    Raises:
        ArgumentError: level is not in (0, 1), or comparisons is below 1.
    """
    return 1.0 - (1.0 - check_level(level)) / check_count("comparisons", comparisons, 1)


def _checked(p: npt.ArrayLike) -> FloatArray:
    values = as_values("p", p)
    if values.size and (float(values.min()) < 0.0 or float(values.max()) > 1.0):
        raise ArgumentError("p", "must hold probabilities in [0, 1]")
    return values
