"""Differences of pass rates sit on a lattice: whole multiples of one over the trials."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fairtrial.stats.arrays import FloatArray, IntArray

_LARGEST_STEPS = 4096
_MOST_STEPS = 1e6
_BLOCK = 1 << 13
_TOLERANCE = 1e-7
_PREFIX = 256
"""Values that tell the lattice; the others are checked against it."""
_DENOMINATORS: tuple[int, ...] = (*range(1, 65), 100)
"""Trials that pass rates are shares of, and scores with two decimals."""


@dataclass(frozen=True, slots=True)
class Lattice:
    """How many values are which whole number of steps; all that exact methods need.

    Attributes:
        low: The smallest value, in steps.
        counts: Values of low, low + 1, … steps.
        per_unit: Steps in 1, so a value is (low + k) / per_unit.
    """

    low: int
    counts: IntArray
    per_unit: int

    @property
    def n(self) -> int:
        """How many values there are."""
        return int(self.counts.sum())

    @property
    def total(self) -> int:
        """Their sum, in steps."""
        return int(self._steps @ self.counts)

    @property
    def sizes(self) -> IntArray:
        """How many values are 0, 1, … steps away from zero."""
        folded = np.bincount(np.abs(self._steps), weights=self.counts)
        return folded.astype(np.int64)

    @property
    def _steps(self) -> IntArray:
        return np.arange(self.low, self.low + self.counts.size)


def find_lattice(values: FloatArray) -> Lattice | None:
    """Count `values` as whole multiples of 1/per_unit; None when there is no small per_unit.

    Continuous scores have none. Candidates come from a prefix of the values, by the denominators
    of their fractional parts; all values are checked against the result.
    """
    if values.size == 0:
        return None
    per_unit = 1
    for value in _sizes(values):
        denominator = _denominator(value)
        if denominator is None:
            return None
        per_unit = math.lcm(per_unit, denominator)
        if per_unit > _LARGEST_STEPS:
            return None
    lattice = _on(values, per_unit)
    if lattice is None and values.size > _PREFIX:
        lattice = _widened(values, per_unit)
    return lattice


def _sizes(values: FloatArray) -> list[float]:
    # What numpy's `unique` returns, which would import its masked arrays for that.
    return sorted(set(np.abs(values[:_PREFIX]).tolist()))


def _denominator(value: float) -> int | None:
    for candidate in _DENOMINATORS:
        scaled = value * candidate
        if abs(scaled - round(scaled)) <= _TOLERANCE:
            return candidate
    return None


def _on(values: FloatArray, per_unit: int) -> Lattice | None:
    low, high = float(values.min()) * per_unit, float(values.max()) * per_unit
    if max(high, -low) > _MOST_STEPS:
        return None
    first = round(low)
    counts = np.zeros(round(high) - first + 1, dtype=np.int64)
    allowed = _TOLERANCE * per_unit
    # In blocks that stay in the cache, but not so small that the counts outweigh them.
    block = max(_BLOCK, 4 * counts.size)
    for start in range(0, values.size, block):
        scaled = values[start : start + block] * per_unit
        steps = np.rint(scaled)
        scaled -= steps
        # The norm is read in one pass and bounds the largest; mostly it settles the question.
        close = float(scaled @ scaled) <= allowed * allowed
        if not close and float(np.abs(scaled).max()) > allowed:
            return None
        steps -= first
        counts += np.bincount(steps.astype(np.int64), minlength=counts.size)
    return Lattice(first, counts, per_unit)


def _widened(values: FloatArray, per_unit: int) -> Lattice | None:
    """Return the lattice when values past the prefix need a finer step."""
    off = values[np.abs(values * per_unit - np.rint(values * per_unit)) > _TOLERANCE * per_unit]
    for value in _sizes(off):
        denominator = _denominator(value)
        if denominator is None:
            return None
        per_unit = math.lcm(per_unit, denominator)
        if per_unit > _LARGEST_STEPS:
            return None
    return _on(values, per_unit)
