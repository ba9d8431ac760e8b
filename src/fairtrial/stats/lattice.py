"""Differences of pass rates sit on a lattice: whole multiples of one over the trials."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fairtrial.stats.arrays import FloatArray, IntArray

_LARGEST_STEPS = 4096
_TOLERANCE = 1e-7
_DENOMINATORS: tuple[int, ...] = (*range(1, 65), 100)
"""Trials that pass rates are shares of, and scores with two decimals."""


@dataclass(frozen=True, slots=True)
class Lattice:
    """Values as whole numbers of one step.

    Attributes:
        steps: The value of each case in steps.
        per_unit: Steps in 1, so a value is steps / per_unit.
    """

    steps: IntArray
    per_unit: int


def find_lattice(values: FloatArray) -> Lattice | None:
    """Return `values` as whole multiples of 1/per_unit, or None when there is no small per_unit.

    Continuous scores have none. Candidates come from a prefix of the values, by the denominators
    of their fractional parts; all values are checked against the result.
    """
    if values.size == 0:
        return None
    per_unit = 1
    for value in np.unique(np.abs(values[:256])):
        denominator = _denominator(float(value))
        if denominator is None:
            return None
        per_unit = math.lcm(per_unit, denominator)
        if per_unit > _LARGEST_STEPS:
            return None
    lattice = _on(values, per_unit)
    if lattice is None and values.size > 256:
        lattice = _widened(values, per_unit)
    return lattice


def _denominator(value: float) -> int | None:
    for candidate in _DENOMINATORS:
        scaled = value * candidate
        if abs(scaled - round(scaled)) <= _TOLERANCE:
            return candidate
    return None


def _on(values: FloatArray, per_unit: int) -> Lattice | None:
    scaled = values * per_unit
    steps = np.rint(scaled)
    scaled -= steps
    # The norm is read in one pass and bounds the largest; mostly it settles the question.
    allowed = _TOLERANCE * per_unit
    if not float(scaled @ scaled) <= allowed * allowed and float(np.abs(scaled).max()) > allowed:
        return None
    if max(float(steps.max()), -float(steps.min())) > 1e6:
        return None
    return Lattice(steps.astype(np.int64), per_unit)


def _widened(values: FloatArray, per_unit: int) -> Lattice | None:
    """Return the lattice when values past the prefix need a finer step."""
    off = values[np.abs(values * per_unit - np.rint(values * per_unit)) > _TOLERANCE * per_unit]
    for value in np.unique(np.abs(off[:256])):
        denominator = _denominator(float(value))
        if denominator is None:
            return None
        per_unit = math.lcm(per_unit, denominator)
        if per_unit > _LARGEST_STEPS:
            return None
    return _on(values, per_unit)
