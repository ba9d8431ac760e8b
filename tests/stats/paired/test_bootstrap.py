import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap

from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.paired.bootstrap import bootstrap_mean


@given(st.lists(st.integers(-3, 3), min_size=2, max_size=5).filter(lambda v: len(set(v)) > 1))
def test_exact_quantiles_agree_with_all_resamples(thirds: list[int]) -> None:
    n = len(thirds)
    means = sorted(sum(draw) / 3 / n for draw in itertools.product(thirds, repeat=n))
    found = bootstrap_mean([k / 3 for k in thirds], level=0.8)
    assert found.method == "exact"
    assert found.seed is None
    assert found.percentile is not None
    total = len(means)
    for p, ours in ((0.1, found.percentile.lower), (0.9, found.percentile.upper)):
        below = sum(m < ours - 1e-9 for m in means) / total
        through = sum(m <= ours + 1e-9 for m in means) / total
        assert below <= p + 1e-9
        assert through >= p - 1e-9


def test_draws_agree_with_scipy() -> None:
    d = np.random.default_rng(3).normal(size=60)
    found = bootstrap_mean(d, draws=20_000, seed=11)
    theirs = bootstrap(
        (d,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(4)
    ).confidence_interval
    assert found.method == "resampling"
    assert (found.seed, found.draws) == (11, 20_000)
    assert found.percentile is not None
    assert found.percentile.lower == pytest.approx(theirs.low, abs=0.02)
    assert found.percentile.upper == pytest.approx(theirs.high, abs=0.02)


def test_binned_agrees_with_draws() -> None:
    d = np.random.default_rng(7).exponential(size=8000)
    binned = bootstrap_mean(d)
    drawn = bootstrap_mean(d, draws=6000)
    assert (binned.method, binned.draws, drawn.method) == ("binned", 0, "resampling")
    assert "on a fine grid" in binned.describe()
    assert binned.interval is not None
    assert drawn.interval is not None
    assert binned.interval.lower == pytest.approx(drawn.interval.lower, abs=0.001)
    assert binned.interval.upper == pytest.approx(drawn.interval.upper, abs=0.001)


def test_the_exact_distribution_has_the_right_mean_and_spread_at_a_million() -> None:
    rng = np.random.default_rng(1)
    d = (rng.binomial(3, 0.6, 1_000_000) - rng.binomial(3, 0.5, 1_000_000)) / 3
    found = bootstrap_mean(d)
    half = 1.9599639845 * d.std() / 1000
    assert found.percentile is not None
    assert found.percentile.lower == pytest.approx(d.mean() - half, abs=2e-6)
    assert found.percentile.upper == pytest.approx(d.mean() + half, abs=2e-6)


def test_equal_clusters_are_exact_and_unequal_ones_drawn() -> None:
    d = [1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0]
    equal = bootstrap_mean(d, clusters=[0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
    assert (equal.method, equal.clusters, equal.n) == ("exact", 5, 10)
    assert "Fewer than 8" in equal.reason
    unequal = bootstrap_mean(d, clusters=[0, 0, 0, 1, 2, 2, 3, 3, 4, 4], seed=9)
    assert (unequal.method, unequal.seed) == ("resampling", 9)
    again = bootstrap_mean(d, clusters=[0, 0, 0, 1, 2, 2, 3, 3, 4, 4], seed=9)
    assert unequal == again


@settings(max_examples=30)
@given(st.lists(st.integers(-2, 2), min_size=8, max_size=40).filter(lambda v: len(set(v)) > 1))
def test_expanding_widens_and_swapping_mirrors(halves: list[int]) -> None:
    d = [k / 2 for k in halves]
    found, mirrored = bootstrap_mean(d), bootstrap_mean([-x for x in d])
    assert found.interval is not None
    assert found.percentile is not None
    assert mirrored.interval is not None
    assert found.interval.lower <= found.percentile.lower
    assert found.interval.upper >= found.percentile.upper
    step = 1 / (2 * len(d))
    assert mirrored.interval.upper == pytest.approx(-found.interval.lower, abs=step + 1e-9)


def test_scores_on_a_huge_grid_fall_back_from_the_exact_way() -> None:
    found = bootstrap_mean([0.0, 999_983.0, 77_003.0, 500_009.0] * 500)
    assert found.method == "resampling"


def test_weights_and_indices_draw_the_same_clusters() -> None:
    rng = np.random.default_rng(4)
    labels = np.repeat(np.arange(160), np.tile([1, 2], 80))
    passed = np.repeat(rng.random(160) < 0.4, np.tile([1, 2], 80)) * 1.0
    few = bootstrap_mean(passed, clusters=labels, draws=40_000, seed=2)
    shaken = passed + rng.normal(0.0, 1e-6, passed.size)
    many = bootstrap_mean(shaken, clusters=labels, draws=40_000, seed=2)
    assert (few.method, many.method) == ("multinomial", "resampling")
    assert few.interval is not None
    assert many.interval is not None
    assert few.interval.lower == pytest.approx(many.interval.lower, abs=0.005)
    assert few.interval.upper == pytest.approx(many.interval.upper, abs=0.005)


def test_too_little_is_none_with_a_reason() -> None:
    assert bootstrap_mean([]).estimate is None
    assert bootstrap_mean([1.0]).interval is None
    assert "cannot be redrawn" in bootstrap_mean([1.0, 0.0], clusters=[3, 3]).describe()
    with pytest.raises(ArgumentError, match="draws"):
        bootstrap_mean([1.0, 0.0], draws=10)
    with pytest.raises(ArgumentError, match="seed"):
        bootstrap_mean([1.0, 0.0], seed=-1)


def test_words() -> None:
    assert "redrawing the 10 units exactly" in bootstrap_mean([1.0, 0.0] * 5).describe()
    drawn = bootstrap_mean(np.random.default_rng(0).normal(size=20))
    assert "from 10000 draws with seed 0" in drawn.describe()
