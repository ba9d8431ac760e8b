"""Bounds of rules: how they are held against a value, and how both are worded."""

from __future__ import annotations

from fractions import Fraction

from fairtrial.model.gate_rule import Bound

_ROUNDING = 1e-9
"""A mean of many rows may miss its exact value by this much."""


def limit(value: float | str) -> float:
    """Return a bound's number; "8/10" is a share.

    Raises:
        ValueError: it is neither a number nor a share, or too large to count with.
    """
    try:
        # A fraction would write "1e999999999" out.
        return float(Fraction(value)) if "/" in str(value) else float(value)
    except (OverflowError, ZeroDivisionError):
        raise ValueError(value) from None


def keeps(bound: Bound, value: float, until: float | None = None) -> bool:
    """Return whether a value, or all values up to another one, keep a bound."""
    low, high = (value, value) if until is None else (value, until)
    if bound.at_least is not None and low < limit(bound.at_least) - _ROUNDING:
        return False
    return bound.at_most is None or high <= limit(bound.at_most) + _ROUNDING


def in_words(bound: Bound, unit: str = "") -> str:
    """Return a bound in words, e.g. `at least 90%`."""
    parts = [
        f"{word} {given if isinstance(given, str) else shown(given, unit)}"
        for word, given in (("at least", bound.at_least), ("at most", bound.at_most))
        if given is not None
    ]
    return " and ".join(parts)


def shown(value: float, unit: str = "") -> str:
    """Return a value in its unit: `%`, `pp` (points), `$`, `s`, or a plain number."""
    if unit == "%":
        return f"{100 * value:.4g}%"
    if unit == "pp":
        return f"{100 * value:+.3g} points"
    if unit == "$":
        return f"${value:,.4g}" if value < 1 else f"${value:,.2f}"
    if unit == "s":
        return f"{value:,.4g} s"
    return f"{value:,.4g}"
