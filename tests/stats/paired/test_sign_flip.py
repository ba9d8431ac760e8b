import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.paired.sign_flip import saddlepoint_tail, sign_flip


def _enumerated(units: list[float]) -> tuple[float, float, float, float]:
    observed = sum(units)
    totals = [
        math.fsum(s * u for s, u in zip(signs, units, strict=True))
        for signs in itertools.product((1, -1), repeat=len(units))
    ]
    many = len(totals)
    two = sum(abs(t) >= abs(observed) - 1e-9 for t in totals) / many
    tie = sum(abs(abs(t) - abs(observed)) <= 1e-9 for t in totals) / many
    up = sum(t >= observed - 1e-9 for t in totals) / many
    point = sum(abs(t - observed) <= 1e-9 for t in totals) / many
    return two, two - 0.5 * tie, up, up - 0.5 * point


@pytest.mark.parametrize("unit", [1.0, 1 / 3, 0.31830988618])
@given(steps=st.lists(st.integers(-4, 4), min_size=2, max_size=9))
def test_all_four_p_values_agree_with_enumeration(unit: float, steps: list[int]) -> None:
    found = sign_flip([unit * s for s in steps])
    two, two_mid, up, up_mid = _enumerated([float(s) for s in steps])
    assert found.p_exact == pytest.approx(two, abs=1e-10)
    assert found.p_exact_greater == pytest.approx(up, abs=1e-10)
    if any(steps):
        assert found.p_mid == pytest.approx(two_mid, abs=1e-10)
        assert found.p_mid_greater == pytest.approx(up_mid, abs=1e-10)
    assert found.seed is None


@given(st.lists(st.integers(-3, 3), min_size=4, max_size=12), st.integers(2, 4))
def test_clusters_flip_together(steps: list[int], groups: int) -> None:
    labels = [k % groups for k in range(len(steps))]
    sums = [float(sum(steps[g::groups])) for g in range(groups)]
    found = sign_flip([s / 3 for s in steps], clusters=labels)
    assert found.clusters == groups
    assert found.p_exact == pytest.approx(_enumerated(sums)[0], abs=1e-10)


@given(st.lists(st.integers(-3, 3), min_size=2, max_size=60))
def test_swapping_the_arms_keeps_p_and_mirrors_the_side(steps: list[int]) -> None:
    d = [s / 3 for s in steps]
    one, other = sign_flip(d), sign_flip([-x for x in d])
    assert one.p_mid == pytest.approx(other.p_mid, abs=1e-12)
    if any(steps):
        assert one.p_mid_greater + other.p_mid_greater == pytest.approx(1.0, abs=1e-10)


def test_far_tails_keep_their_digits() -> None:
    found = sign_flip([1.0] * 900 + [-1.0] * 100)
    exact = 2 * sum(math.comb(1000, j) for j in range(900, 1001)) / 2**1000
    assert found.p_exact == pytest.approx(exact, rel=1e-9)
    assert found.p_exact < 1e-160
    mixed = sign_flip([1.0, 2.0] * 150)
    assert mixed.p_exact == pytest.approx(2.0 * 0.5**300, rel=1e-12)


def test_a_wide_lattice_agrees_with_a_direct_convolution() -> None:
    rng = np.random.default_rng(2)
    steps = rng.integers(-3, 4, 400)
    pmf = np.ones(1)
    for s in np.abs(steps[steps != 0]):
        spread = np.zeros(2 * s + 1)
        spread[0] = spread[-1] = 0.5
        pmf = np.convolve(pmf, spread)
    reach = pmf.size // 2
    observed = abs(int(steps.sum()))
    exact = 2 * pmf[reach + observed :].sum()
    assert sign_flip(steps / 3).p_exact == pytest.approx(exact, rel=1e-9)


def test_random_flips_agree_with_the_saddlepoint_and_record_their_seed() -> None:
    d = np.random.default_rng(8).normal(0.12, 1.0, 300)
    drawn = sign_flip(d, seed=5)
    assert (drawn.method, drawn.draws, drawn.seed) == ("random flips", 20_000, 5)
    assert sign_flip(d, seed=5) == drawn
    smooth = 2 * saddlepoint_tail(np.abs(d), abs(d.sum()))
    assert drawn.p_exact == pytest.approx(smooth, abs=3 * math.sqrt(smooth / 20_000))
    many = np.random.default_rng(8).normal(0.01, 1.0, 6000)
    assert sign_flip(many).method == "saddlepoint"
    assert sign_flip(many).p_mid == pytest.approx(
        2 * saddlepoint_tail(np.abs(many), abs(many.sum())), rel=1e-9
    )


def test_drawn_flips_of_a_sum_of_zero_weigh_the_tie_once() -> None:
    # ten tenths of a number that is on no lattice, and their mirror: P(T = 0) is C(20, 10)/2^20
    found = sign_flip([math.pi / 10] * 10 + [-math.pi / 10] * 10)
    point = math.comb(20, 10) / 2**20
    assert found.method == "random flips"
    assert found.p_exact == 1.0
    assert found.p_mid == pytest.approx(1.0 - 0.5 * point, abs=0.01)
    assert found.p_exact_greater == pytest.approx(0.5 + 0.5 * point, abs=0.01)


def test_thousands_of_clusters_are_exact_and_quick() -> None:
    rng = np.random.default_rng(1)
    d, labels = rng.integers(-3, 4, 100_000) / 3, rng.integers(0, 2_000, 100_000)
    found = sign_flip(d, clusters=labels)
    assert (found.method, found.seed) == ("convolution", None)
    sums = np.bincount(labels, weights=d)
    smooth = 2.0 * saddlepoint_tail(np.abs(sums[sums != 0]), abs(float(sums.sum())))
    assert found.p_mid == pytest.approx(smooth, rel=1e-3)


def test_saddlepoint_against_the_exact_lattice() -> None:
    steps = np.random.default_rng(4).integers(1, 40, 500).astype(float)
    for observed in (0.0, 150.0, 1000.0, 2500.0):
        signed = steps.copy()
        order = np.argsort(steps)
        total = steps.sum()
        for k in order[::-1]:
            if total - 2 * steps[k] >= observed:
                signed[k] = -steps[k]
                total -= 2 * steps[k]
        exact = sign_flip(signed)
        middle = exact.p_mid / 2
        assert saddlepoint_tail(steps, abs(signed.sum())) == pytest.approx(middle, rel=2e-3)


def test_ends_of_the_saddlepoint() -> None:
    assert saddlepoint_tail(np.array([1.0, 2.0]), 0.0) == 0.5
    assert saddlepoint_tail(np.array([1.0, 2.5]), 3.5) == 0.25


def test_large_whole_numbers_are_not_convolved() -> None:
    d = np.random.default_rng(6).integers(-900_000, 900_000, 30).astype(float)
    assert sign_flip(d).method == "random flips"
    assert sign_flip(d[:12]).method == "enumeration"


def test_two_decimal_scores_are_exact() -> None:
    d = np.round(np.random.default_rng(6).normal(0, 0.3, 200), 2)
    assert sign_flip(d).method == "convolution"


@settings(max_examples=30)
@given(st.integers(2, 50))
def test_all_ties_and_single_cases_prove_nothing(n: int) -> None:
    assert sign_flip([0.0] * n).p_mid == 1.0
    assert sign_flip([0.0] * n).p_mid_greater == 1.0
    assert sign_flip([0.0] * n).reason == "no difference to flip"
    assert sign_flip([1.0]).p_mid == 1.0
    assert (sign_flip([1.0]).p_exact_greater, sign_flip([-1.0]).p_exact_greater) == (0.5, 1.0)
    assert sign_flip([0.0]).p_exact_greater == 1.0
    assert sign_flip([1.0, 1.0], clusters=[0, 0]).p_exact == 1.0
    assert "can prove nothing" in sign_flip([1.0]).reason


def test_arguments_and_words() -> None:
    with pytest.raises(ArgumentError, match="draws"):
        sign_flip([1.0, 0.5], draws=3)
    assert "8 differences" in sign_flip([1.0, 0.0] * 4).describe()


def test_almost_all_of_the_large_ones_agree() -> None:
    found = sign_flip([40.0] * 10 + [1.0, -1.0])
    assert found.p_exact == pytest.approx(2 * 0.5**10 * 0.75, rel=1e-12)


def test_saddlepoint_close_to_the_middle_is_normal() -> None:
    flips = np.full(10_000, 1.0)
    assert saddlepoint_tail(flips, 0.005) == pytest.approx(0.5, abs=1e-4)
    assert saddlepoint_tail(flips, 0.005) < 0.5
