"""How large a comparison must be."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.power import TTestPower

from fairtrial.analysis.planned_size import (
    Question,
    cases_for,
    effect_of,
    most_flips,
    noise_of,
    power_of,
)


@pytest.mark.parametrize("flip_rate", [0.08, 0.25, 0.4])
@pytest.mark.parametrize("trials", [1, 3])
@pytest.mark.parametrize("cases", [20, 50, 300])
def test_effects_and_powers_are_those_of_statsmodels(
    cases: int, trials: int, flip_rate: float
) -> None:
    asked = Question(flip_rate)
    sd = np.sqrt(flip_rate / trials)
    solver = TTestPower()
    size = solver.solve_power(effect_size=None, nobs=cases, alpha=0.05, power=0.8)
    assert effect_of(cases, trials, asked) == pytest.approx(size * sd, rel=1e-6)
    power = solver.power(0.05 / sd, cases, 0.05)
    assert power_of(0.05, cases, trials, asked) == pytest.approx(power, abs=1e-6)


@pytest.mark.parametrize("spread", [True, False])
@pytest.mark.parametrize("flip_rate", [0.0, 0.1, 0.25, 0.5])
def test_the_cases_needed_are_the_fewest_that_show_the_effect(
    flip_rate: float, *, spread: bool
) -> None:
    asked = Question(flip_rate)
    for effect in (0.03, 0.1, 0.4):
        cases = cases_for(effect, 2, asked, spread=spread)
        assert cases is not None
        shown, short = (effect_of(n, 2, asked, spread=spread) for n in (cases, cases - 1))
        assert shown is not None
        assert shown <= effect + 1e-9
        assert short is None or short > effect


def test_a_concentrated_gain_needs_more_and_its_formula_holds() -> None:
    asked = Question(0.1)
    spread, few = (effect_of(100, 3, asked, spread=kind) for kind in (True, False))
    assert spread is not None
    assert few is not None
    assert few > spread
    again = TTestPower().power(few / np.sqrt(asked.variance(3) + few * (1 - few)), 100, 0.05)
    assert again == pytest.approx(0.8, abs=1e-6)


def test_the_simulated_power_is_the_one_promised() -> None:
    # 200 cases, 3 trials an arm, a fifth of all cases flaky at 50 % in both arms, 10 % fixed.
    draws = np.random.default_rng(7)
    cases, trials, gain, runs = 200, 3, 0.1, 4_000
    flaky = np.arange(cases) < cases // 5
    rate = np.where(flaky, 0.5, 0.0)
    fixed = draws.random((runs, cases)) < gain / 0.8
    better = np.where(flaky, 0.5, np.where(fixed, 1.0, 0.0))
    d = (
        draws.binomial(trials, better) / trials
        - draws.binomial(trials, rate, (runs, cases)) / trials
    )
    t = d.mean(axis=1) / (d.std(axis=1, ddof=1) / np.sqrt(cases))
    asked = Question(flip_rate=0.5 * flaky.mean())
    needed = effect_of(cases, trials, asked, spread=False)
    assert needed is not None
    assert needed < gain
    assert (t > 1.972).mean() > 0.8


def test_too_small_or_too_large_a_plan_has_no_answer() -> None:
    assert effect_of(1, 1, Question()) is None
    assert effect_of(3, 1, Question()) is None
    assert power_of(0.1, 1, 1, Question()) is None
    assert cases_for(0.0005, 1, Question()) is None


def test_noise_is_read_from_counts() -> None:
    assert noise_of({}) is None
    assert noise_of({(0, 0): 4}) is None
    single = noise_of({(1, 1): 3, (0, 1): 2})
    assert single is not None
    assert single.flip_rate is None
    found = noise_of({(3, 3): 6, (2, 3): 4})
    assert found is not None
    # 4 of 10 cases with the unbiased variance 1/3 of (1, 1, 0): twice that, on average.
    assert found.flip_rate == pytest.approx(2 * 0.4 / 3)


def test_a_rate_that_is_only_the_highest_that_fits_takes_no_gain_to_be_spread() -> None:
    bound = Question(0.1, spread=False)
    assert effect_of(100, 3, bound) == effect_of(100, 3, Question(0.1), spread=False)
    calm = effect_of(100, 3, Question(0.0))
    assert calm is not None
    assert (effect_of(100, 3, bound) or 0.0) > calm
    power = TTestPower().power(0.1 / np.sqrt(bound.variance(3) + 0.09), 100, 0.05)
    assert power_of(0.1, 100, 3, bound) == pytest.approx(power, abs=1e-6)


def test_the_most_flips_that_fit_are_those_of_the_cases_with_several_trials() -> None:
    # Eleven cases of two trials or more agree with themselves; one of one trial says nothing.
    assert most_flips({(3, 3): 6, (0, 2): 5, (1, 1): 1}) == pytest.approx(1 - 0.05 ** (1 / 11))
    assert most_flips({(3, 3): 6, (1, 2): 1}) is None
    assert most_flips({(1, 1): 9, (0, 0): 2}) is None
