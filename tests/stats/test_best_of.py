"""The expected best of several equal measurements."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from fairtrial.stats.best_of import best_of, expected_maximum
from fairtrial.stats.errors import ArgumentError


@pytest.mark.parametrize(
    ("n", "expected"),
    [
        (1, 0.0),
        (2, 1 / math.sqrt(math.pi)),
        (3, 1.5 / math.sqrt(math.pi)),
        # Harter 1961, table 1, to five places.
        (10, 1.53875),
        (20, 1.86748),
        (100, 2.50759),
    ],
)
def test_it_is_what_tables_say(n: int, expected: float) -> None:
    assert expected_maximum(n) == pytest.approx(expected, abs=5e-6)


@pytest.mark.parametrize("n", [2, 7, 40, 1_000, 100_000])
def test_it_is_the_mean_of_scipys_distribution_of_the_highest(n: int) -> None:
    # The highest of n has the survival function 1 - Phi^n.
    above = integrate.quad(lambda z: -math.expm1(n * stats.norm.logcdf(z)), 0, 12, epsabs=1e-12)
    below = integrate.quad(lambda z: math.exp(n * stats.norm.logcdf(z)), -12, 0, epsabs=1e-12)
    assert expected_maximum(n) == pytest.approx(above[0] - below[0], abs=1e-8)


def test_equal_configurations_look_as_much_better_as_it_says() -> None:
    rng = np.random.default_rng(3)
    rates = rng.binomial(200, 0.6, size=(4_000, 8)) / 200
    found = best_of(8, math.sqrt(0.6 * 0.4 / 200))
    assert float(rates.max(axis=1).mean()) - 0.6 == pytest.approx(found.estimate, abs=0.002)
    assert "4.9 points better" in found.describe()


@pytest.mark.parametrize(("n", "se", "argument"), [(0, 0.1, "n"), (2, -0.1, "se")])
def test_bad_arguments_are_named(n: int, se: float, argument: str) -> None:
    with pytest.raises(ArgumentError, match=f"^{argument}: "):
        best_of(n, se)
