"""The highest flip rate that fits where no flip was seen, against scipy and by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binomtest

from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.flip_rate import flip_rate_at_most


@pytest.mark.parametrize("n", [5, 20, 300, 10_000])
def test_with_two_trials_it_is_clopper_and_pearsons_limit_of_no_flip_in_n(n: int) -> None:
    # One-sided 95 % is the upper end of the two-sided 90 % interval.
    limit = binomtest(0, n).proportion_ci(0.9, "exact").high
    assert flip_rate_at_most(n, 2) == pytest.approx(min(limit, 0.5), rel=1e-9)
    if n > 100:
        assert flip_rate_at_most(n, 2) == pytest.approx(3 / n, rel=0.02)


@pytest.mark.parametrize("k", [2, 3, 6, 20])
@pytest.mark.parametrize("n", [8, 100])
def test_with_more_trials_it_solves_the_chance_that_all_agree(n: int, k: int) -> None:
    def excess(p: float) -> float:
        return float(n * np.log(p**k + (1 - p) ** k) - math.log(0.05))

    p = brentq(excess, 1e-12, 0.5)
    assert flip_rate_at_most(n, k) == pytest.approx(2 * p * (1 - p), rel=1e-6)


def test_it_is_a_coins_rate_where_even_coins_would_often_agree() -> None:
    assert flip_rate_at_most(1, 2) == 0.5
    assert flip_rate_at_most(4, 2) == 0.5
    assert flip_rate_at_most(5, 2) < 0.5


@pytest.mark.parametrize("flaky", [6, 10, 20])
@pytest.mark.parametrize("k", [2, 6])
def test_at_that_rate_no_flip_is_seen_one_time_in_20_at_most_however_cases_differ(
    k: int, flaky: int
) -> None:
    draws = np.random.default_rng(11)
    n, runs = 20, 20_000
    each = flip_rate_at_most(n, k) * n / flaky
    chance = np.where(np.arange(n) < flaky, 0.5 * (1 - math.sqrt(1 - 2 * each)), 1.0)
    passes = draws.binomial(k, chance, (runs, n))
    silent = np.all((passes == 0) | (passes == k), axis=1).mean()
    assert silent <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)


def test_more_cases_and_more_trials_lower_it() -> None:
    assert flip_rate_at_most(40, 2) < flip_rate_at_most(20, 2)
    assert flip_rate_at_most(20, 6) < flip_rate_at_most(20, 2)
    assert flip_rate_at_most(20, 2, level=0.99) > flip_rate_at_most(20, 2)


@pytest.mark.parametrize(("cases", "trials"), [(0, 2), (5, 1)])
def test_no_case_or_no_second_trial_says_nothing(cases: int, trials: int) -> None:
    with pytest.raises(ArgumentError):
        flip_rate_at_most(cases, trials)
