"""The noise floor, against its definitions."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import numpy as np
import pytest

from fairtrial.analysis.noise import noise_floor
from fairtrial.analysis.planned_size import Question, effect_of
from fairtrial.model.noise import StoredFloor
from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.trials import TrialSums, from_counts

RNG_SEED = 9


def runs_of(k: int, n: int = 300) -> tuple[TrialSums, TrialSums, np.ndarray]:
    """Two runs of flaky cases with k trials each, and every single outcome."""
    rng = np.random.default_rng(RNG_SEED)
    chance = rng.beta(0.5, 0.5, n)
    outcomes = rng.random((2, k, n)) < chance
    first, second = outcomes.sum(axis=1)
    return from_counts(first, [k] * n), from_counts(second, [k] * n), outcomes


@pytest.mark.parametrize("k", [1, 3])
def test_the_flip_rate_is_the_share_of_pairs_of_trials_that_differ(k: int) -> None:
    first, second, outcomes = runs_of(k)
    trials = outcomes.reshape(2 * k, -1)
    pairs = [
        float(np.mean(trials[i] != trials[j])) for i in range(2 * k) for j in range(2 * k) if i != j
    ]
    found = noise_floor(first, second)
    assert found.flip_rate == pytest.approx(np.mean(pairs))
    assert found.within == pytest.approx(np.mean(np.var(trials, axis=0, ddof=1)))
    assert (found.cases, found.trials) == (300, k)
    assert found.first == pytest.approx(outcomes[0].mean())


@pytest.mark.parametrize("k", [1, 3])
def test_the_sd_is_that_of_many_repeated_comparisons(k: int) -> None:
    rng = np.random.default_rng(RNG_SEED)
    chance = rng.beta(0.5, 0.5, 300)
    deltas, told = [], []
    for _ in range(400):
        first, second = rng.binomial(k, chance, (2, 300))
        deltas.append(float(np.mean(second - first)) / k)
        runs = [from_counts(passes, [k] * 300) for passes in (first, second)]
        told.append(noise_floor(runs[0], runs[1], sizes=()).sd)
    assert np.mean(told) == pytest.approx(np.std(deltas), rel=0.1)


def test_the_same_agent_shows_drift_one_time_in_twenty_at_most() -> None:
    rng = np.random.default_rng(RNG_SEED)
    chance = rng.beta(0.5, 0.5, 60)
    ones = [1] * 60
    alarms = []
    for _ in range(400):
        first, second = (from_counts(passes, ones) for passes in rng.binomial(1, chance, (2, 60)))
        alarms.append(noise_floor(first, second, sizes=()))
    assert sum(found.drifts for found in alarms) <= 400 * 0.05 + 3 * math.sqrt(400 * 0.05 * 0.95)


def test_a_service_that_got_worse_between_the_runs_is_drift() -> None:
    found = noise_floor(from_counts([1] * 15, [1] * 15), from_counts([0] * 10 + [1] * 5, [1] * 15))
    assert found.drifts
    assert found.drift_method == "mcnemar mid-p"
    # statsmodels.stats.contingency_tables.mcnemar: 2 * 0.5**10 exact, mid-p takes half the point.
    assert found.drift_p == pytest.approx(2 * 0.5**10 - 0.5**10)


def test_more_trials_and_more_cases_show_smaller_differences() -> None:
    first, second, _ = runs_of(3)
    found = noise_floor(first, second)
    effects = {(v.cases, v.trials): v.effect for v in found.visible}
    assert {300, 20, 1000} <= {cases for cases, _ in effects}
    for cases in (50, 300):
        shown = [effects[cases, k] for k in (1, 3, 5)]
        assert shown == sorted(shown, reverse=True)  # type: ignore[type-var]
    assert (effects[1000, 1] or 1.0) < (effects[100, 1] or 0.0)


def test_an_agent_that_never_flips_has_no_noise() -> None:
    same = from_counts([1, 0, 1], [1, 1, 1])
    found = noise_floor(same, same)
    assert (found.flip_rate, found.within, found.sd, found.drift_p) == (0.0, 0.0, 0.0, 1.0)
    assert not found.drifts


def test_it_needs_a_case() -> None:
    nothing = from_counts([], [])
    with pytest.raises(ArgumentError, match="first"):
        noise_floor(nothing, nothing)


def test_no_flip_at_all_is_no_certainty() -> None:
    ones, twos = [1] * 20, [2] * 20
    found = noise_floor(from_counts(ones, ones), from_counts(twos, twos))
    assert (found.flip_rate, found.sd) == (0.0, 0.0)
    # Three trials of a case: 1 - 3f/2 is the chance that they agree.
    most = (1 - 0.05 ** (1 / 20)) / 1.5
    assert found.flip_rate_at_most == pytest.approx(most)
    assert found.sd_at_most == pytest.approx(math.sqrt(0.5 * most * (1 + 0.5) / 20))
    effects = {(v.cases, v.trials): v.effect for v in found.visible}
    assert effects[100, 1] == effect_of(100, 1, Question(most), spread=False)
    luck = StoredFloor(found, ("exp_a",), datetime(2026, 1, 1, tzinfo=UTC)).luck_at(50, 2)
    assert luck.at_most
    assert luck.sd == pytest.approx(math.sqrt(most / 100))


def test_with_a_flip_the_estimate_speaks_for_itself() -> None:
    found = noise_floor(from_counts([1, 1], [1, 1]), from_counts([1, 0], [1, 1]))
    assert (found.flip_rate_at_most, found.sd_at_most) == (None, None)
    luck = StoredFloor(found, ("exp_a",), datetime(2026, 1, 1, tzinfo=UTC)).luck_at(2, 1)
    assert not luck.at_most
    assert luck.sd == pytest.approx(found.sd)
