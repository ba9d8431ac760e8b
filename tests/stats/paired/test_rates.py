import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.paired.bonett_price import bonett_price
from fairtrial.stats.paired.counts import PairedCounts
from fairtrial.stats.paired.newcombe import newcombe
from fairtrial.stats.paired.tango import tango
from fairtrial.stats.tails import normal_quantile

INTERVALS = [tango, newcombe, bonett_price]


def tables(most: int = 60) -> st.SearchStrategy[PairedCounts]:
    cell = st.integers(0, most)
    return (
        st.tuples(cell, cell, cell, cell)
        .filter(lambda cells: sum(cells) > 0)
        .map(lambda cells: PairedCounts(*cells))
    )


@pytest.mark.parametrize("method", INTERVALS)
@given(counts=tables())
def test_swapping_the_arms_mirrors_the_interval(method: object, counts: PairedCounts) -> None:
    assert callable(method)
    swapped = PairedCounts(counts.both, counts.broken, counts.fixed, counts.neither)
    ours, mirrored = method(counts).interval, method(swapped).interval
    assert mirrored.lower == pytest.approx(-ours.upper, abs=1e-9)
    assert mirrored.upper == pytest.approx(-ours.lower, abs=1e-9)


@pytest.mark.parametrize("method", INTERVALS)
@given(counts=tables())
def test_the_interval_is_positive_possible_and_says_what_it_is(
    method: object, counts: PairedCounts
) -> None:
    assert callable(method)
    found = method(counts)
    assert -1.0 <= found.interval.lower < found.interval.upper <= 1.0
    assert found.estimate == (counts.fixed - counts.broken) / counts.n
    assert found.n == found.clusters == counts.n
    assert found.method == found.interval.method
    assert found.p is None


@pytest.mark.parametrize("method", INTERVALS)
@given(counts=tables(), more=st.integers(1, 20))
def test_turning_ties_into_fixes_raises_both_ends(
    method: object, counts: PairedCounts, more: int
) -> None:
    assert callable(method)
    base = PairedCounts(counts.both, counts.fixed, counts.broken, counts.neither + more)
    better = PairedCounts(counts.both, counts.fixed + more, counts.broken, counts.neither)
    low, high = method(base).interval, method(better).interval
    assert high.lower >= low.lower - 1e-9
    assert high.upper >= low.upper - 1e-9


@given(counts=tables(), level=st.floats(0.5, 0.999))
def test_tango_ends_satisfy_the_score_equation(counts: PairedCounts, level: float) -> None:
    z = normal_quantile(0.5 + level / 2)
    interval = tango(counts, level).interval
    assert interval is not None
    n, b, c = counts.n, counts.fixed, counts.broken
    for d in (interval.lower, interval.upper):
        if abs(d) == 1.0:
            assert n in (b, c)
            continue
        best = _restricted_breaks(n, b, c, d)
        variance = n * (2 * best + d * (1 - d))
        assert abs(b - c - n * d) == pytest.approx(z * math.sqrt(variance), rel=1e-6, abs=1e-6)


def _restricted_breaks(n: int, fixed: int, broken: int, d: float) -> float:
    """The chance to break that makes the table most likely when fix less break is d."""
    low, high = max(0.0, -d), (1.0 - d) / 2.0

    def slope(q: float) -> float:
        return (
            (fixed / (q + d) if fixed else 0.0)
            + (broken / q if broken else 0.0)
            - (2 * (n - fixed - broken) / (1 - 2 * q - d) if n > fixed + broken else 0.0)
        )

    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return (low + high) / 2


def test_all_broken_and_all_fixed_reach_the_end() -> None:
    assert tango(PairedCounts(0, 0, 3, 0)).interval.lower == -1.0  # type: ignore[union-attr]
    assert tango(PairedCounts(0, 3, 0, 0)).interval.upper == 1.0  # type: ignore[union-attr]


def test_newcombe_ignores_the_correlation_of_an_empty_margin() -> None:
    interval = newcombe(PairedCounts(20, 0, 0, 0)).interval
    assert interval is not None
    assert interval.upper == pytest.approx(0.161125158052819, abs=1e-12)


@pytest.mark.parametrize(
    "cells", [(0, 0, 0, 0), (-1, 1, 1, 1), (1, 1.5, 0, 0), (1, 0, math.nan, 0)]
)
def test_a_table_needs_counts(cells: tuple[int, int, int, int]) -> None:
    with pytest.raises(ArgumentError):
        PairedCounts(*cells)


def test_bonett_price_is_wald_with_two_pseudo_cases() -> None:
    found = bonett_price(PairedCounts(9, 8, 3, 4))
    assert found.centre == pytest.approx(5 / 26)
    half = 1.959963984540054 * math.sqrt((9 / 26 + 4 / 26 - (5 / 26) ** 2) / 26)
    assert found.interval is not None
    assert found.interval.upper == pytest.approx(5 / 26 + half)
    assert found.interval.lower == pytest.approx(5 / 26 - half)
