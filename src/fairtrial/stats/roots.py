"""A bracketing root finder."""

from __future__ import annotations

from collections.abc import Callable

from fairtrial.stats.errors import ArgumentError


def find_root(
    function: Callable[[float], float],
    low: float,
    high: float,
    *,
    tolerance: float = 1e-13,
    smallest: float | None = None,
    max_steps: int = 200,
) -> float:
    """Return x in [low, high] with function(x) = 0, by Chandrupatla's method.

    It bisects until inverse quadratic interpolation is safe, so it never leaves the bracket and
    needs no derivative. Source: Chandrupatla 1997, Adv. Eng. Software 28:145.

    Args:
        function: Continuous, with opposite signs (or a zero) at the two ends.
        low: One end of the bracket.
        high: The other end.
        tolerance: Relative width at which the bracket is narrow enough.
        smallest: Absolute width that is enough for a root close to 0; `tolerance` unless given.
        max_steps: Function calls after which the best point so far is returned.

    Raises:
        ArgumentError: the function has one sign at both ends.
    """
    absolute = tolerance if smallest is None else smallest
    b, a = low, high
    fb, fa = function(b), function(a)
    if fa == 0.0:
        return a
    if fb == 0.0:
        return b
    if (fa > 0.0) == (fb > 0.0):
        raise ArgumentError("function", f"has the same sign at {low!r} and {high!r}")
    share = 0.5
    for _ in range(max_steps):
        x = a + share * (b - a)
        fx = function(x)
        if (fx > 0.0) == (fa > 0.0):
            c, fc = a, fa
        else:
            c, fc = b, fb
            b, fb = a, fa
        a, fa = x, fx
        best, f_best = (a, fa) if abs(fa) < abs(fb) else (b, fb)
        limit = (absolute + tolerance * abs(best)) / abs(b - a) if a != b else 1.0
        if f_best == 0.0 or limit > 0.5:
            return best
        share = min(max(_step(a, b, c, (fa, fb, fc)), limit), 1.0 - limit)
    return best


def _step(a: float, b: float, c: float, values: tuple[float, float, float]) -> float:
    fa, fb, fc = values
    xi = (a - b) / (c - b)
    phi = (fa - fb) / (fc - fb)
    if phi**2 < xi and (1.0 - phi) ** 2 < 1.0 - xi:
        return fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
    return 0.5
