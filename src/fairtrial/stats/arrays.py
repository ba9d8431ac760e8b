"""Checked arrays: what the procedures take is finite, one-dimensional and aligned."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from fairtrial.stats.errors import ArgumentError

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
_LARGEST = 1e150
_BLOCK = 1 << 13
"""Small enough for the cache, and for BLAS to stay in one thread."""


def as_values(argument: str, values: npt.ArrayLike, *, least: int = 0) -> FloatArray:
    """Return `values` as a one-dimensional array of finite floats.

    Args:
        argument: The parameter's name, for the message.
        values: Any sequence of numbers.
        least: How many there must be at least.

    Raises:
        ArgumentError: it has another shape, too few values, or one that is not finite.
    """
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ArgumentError(argument, "must be numbers, in one dimension") from error
    if array.ndim != 1:
        raise ArgumentError(argument, f"must have one dimension, not {array.ndim}")
    if array.size < least:
        raise ArgumentError(argument, f"needs at least {least} values, not {array.size}")
    _check_sizes(argument, array)
    return array


def _check_sizes(argument: str, array: FloatArray) -> None:
    """Refuse what is not finite, and what overflows when squared and summed."""
    if not array.size:
        return
    low, high = float(array.min()), float(array.max())
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ArgumentError(argument, "must hold finite numbers only; leave missing ones out")
    if max(high, -low) > _LARGEST:
        raise ArgumentError(argument, f"must hold numbers of at most {_LARGEST:g} in size")


def as_table(argument: str, values: npt.ArrayLike) -> FloatArray:
    """Return `values` as a two-dimensional array of finite floats.

    Raises:
        ArgumentError: it is ragged, has another shape, or a value that is not finite.
    """
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ArgumentError(argument, "must be numbers, in rows of equal length") from error
    if array.ndim != 2:
        raise ArgumentError(argument, f"must have two dimensions, not {array.ndim}")
    _check_sizes(argument, array)
    return array


def as_aligned(argument: str, values: npt.ArrayLike, other: FloatArray) -> FloatArray:
    """Return `values` as a checked array as long as `other`.

    Raises:
        ArgumentError: the lengths differ, or a value is not finite.
    """
    array = as_values(argument, values)
    if array.size != other.size:
        raise ArgumentError(argument, f"has {array.size} values, expected {other.size}")
    return array


def as_clusters(argument: str, labels: npt.ArrayLike, n: int) -> IntArray:
    """Return codes 0, 1, … for the cluster labels of n cases.

    Non-negative whole numbers below 4n are used as they are (gaps are allowed), because sorting
    a million labels costs more than everything that follows.

    Raises:
        ArgumentError: there is not one label a case.
    """
    array = np.asarray(labels)
    if array.shape != (n,):
        raise ArgumentError(argument, f"needs one label for each of the {n} cases")
    if n and array.dtype.kind in "iu" and int(array.min()) >= 0 and int(array.max()) < 4 * n:
        return array.astype(np.int64, copy=False)
    return np.unique(array, return_inverse=True)[1].astype(np.int64)


def squares_around(values: FloatArray, codes: IntArray | None, centre: float) -> tuple[float, int]:
    """Return the sum over clusters of (sum - size * centre)², and the number of clusters."""
    if codes is None:
        n = values.size
        # In blocks that stay in the cache: faster than one pass, and no copy of a million values.
        blocks = (values[start : start + _BLOCK] - centre for start in range(0, n, _BLOCK))
        return math.fsum(float(rest @ rest) for rest in blocks), n
    sums, sizes = cluster_sums(values, codes)
    rest = sums - centre * sizes
    return float(rest @ rest), sums.size


def cluster_sums(values: FloatArray, codes: IntArray | None) -> tuple[FloatArray, FloatArray]:
    """Return each cluster's sum of values and its size; every case is its own without codes."""
    if codes is None:
        return values, np.ones_like(values)
    sizes = np.bincount(codes).astype(np.float64)
    sums = np.bincount(codes, weights=values).astype(np.float64, copy=False)
    filled = sizes > 0
    if filled.all():
        return sums, sizes
    return sums[filled], sizes[filled]
