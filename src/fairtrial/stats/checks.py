"""Checks of scalar arguments; each raises `ArgumentError` naming the argument."""

from __future__ import annotations

import math

from fairtrial.stats.errors import ArgumentError

_MOST = 2**53
"""The largest count that a float holds exactly."""


def check_between(argument: str, value: float, low: float, high: float) -> float:
    """Return `value` as a float when low < value < high.

    Raises:
        ArgumentError: it is not strictly between the two, or NaN.
    """
    number = _number(argument, value)
    if not low < number < high:
        raise ArgumentError(argument, f"must be between {low:g} and {high:g}, not {value!r}")
    return number


def check_level(level: float) -> float:
    """Return the confidence level, strictly between 0 and 1."""
    return check_between("level", level, 0.0, 1.0)


def check_share(argument: str, value: float) -> float:
    """Return `value` as a float when it is in [0, 1].

    Raises:
        ArgumentError: it is outside [0, 1], or NaN.
    """
    number = _number(argument, value)
    if not 0.0 <= number <= 1.0:
        raise ArgumentError(argument, f"must be in [0, 1], not {value!r}")
    return number


def check_finite(argument: str, value: float) -> float:
    """Return `value` as a float when it is finite.

    Raises:
        ArgumentError: it is infinite or NaN.
    """
    number = _number(argument, value)
    if not math.isfinite(number):
        raise ArgumentError(argument, f"must be finite, not {value!r}")
    return number


def check_at_least(argument: str, value: float, low: float) -> float:
    """Return `value` as a float when it is finite and not below `low`.

    Raises:
        ArgumentError: it is smaller, infinite or NaN.
    """
    number = check_finite(argument, value)
    if number < low:
        raise ArgumentError(argument, f"must be at least {low:g}, not {value!r}")
    return number


def check_within(argument: str, value: float, low: float, high: float) -> float:
    """Return `value` as a float when low <= value <= high.

    Raises:
        ArgumentError: it is outside the two, or NaN.
    """
    number = _number(argument, value)
    if not low <= number <= high:
        raise ArgumentError(argument, f"must be from {low:g} to {high:g}, not {value!r}")
    return number


def check_count(argument: str, value: float, low: int = 0) -> int:
    """Return `value` as an int when it is whole and not below `low`.

    Raises:
        ArgumentError: it is fractional, smaller than `low`, above 2^53 or NaN.
    """
    number = _number(argument, value)
    if not math.isfinite(number) or number != math.floor(number):
        raise ArgumentError(argument, f"must be a whole number, not {value!r}")
    if number < low:
        raise ArgumentError(argument, f"must be at least {low}, not {value!r}")
    if number > _MOST:
        raise ArgumentError(argument, f"must be at most 2^53, not {value!r}")
    return int(value)


def _number(argument: str, value: float) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ArgumentError(argument, f"must be a number, not {value!r}") from None
    except OverflowError:
        raise ArgumentError(argument, "is a number too large to calculate with") from None
