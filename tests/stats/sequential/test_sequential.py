import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.sequential.bounds import (
    classic_obrien_fleming_bounds,
    obrien_fleming_bounds,
    z_of_p,
)
from fairtrial.stats.sequential.design import sequential_design
from fairtrial.stats.sequential.inference import sequential_inference
from fairtrial.stats.sequential.recursion import crossing
from fairtrial.stats.sequential.spending import obrien_fleming_spent
from fairtrial.stats.tails import normal_quantile, normal_sf

looks = (
    st.lists(st.integers(1, 40), min_size=1, max_size=5, unique=True)
    .map(sorted)
    .map(lambda parts: [part / 40 for part in parts])
)

TABLE = {
    2: "2.96259 1.96860",
    3: "3.71030 2.51143 1.99305",
    4: "4.33263 2.96313 2.35904 2.01409",
    5: "4.87688 3.35701 2.68028 2.28982 2.03103",
    6: "5.36656 3.71034 2.96974 2.53868 2.25219 2.04479",
    8: "6.23197 4.33264 3.48138 2.97961 2.64434 2.40117 2.21465 2.06578",
    10: "6.99135 4.87689 3.92968 3.36708 2.98933 2.71481 2.50408 2.33583 2.19750 2.08118",
}


@pytest.mark.parametrize("k", TABLE)
def test_published_boundaries(k: int) -> None:
    z = obrien_fleming_bounds([(j + 1) / k for j in range(k)]).z
    assert z == pytest.approx([float(text) for text in TABLE[k].split()], abs=1.1e-5)


@pytest.mark.parametrize("looks_at", [[0.3, 0.31, 0.32, 1.0], [0.2, 0.5, 0.8, 1.0]])
def test_two_sided_error_agrees_with_the_multivariate_normal(looks_at: list[float]) -> None:
    z = obrien_fleming_bounds(looks_at).z
    t = np.array(looks_at)
    correlation = np.sqrt(np.minimum.outer(t, t) / np.maximum.outer(t, t))
    inside = multivariate_normal.cdf(
        z,
        mean=np.zeros(4),
        cov=correlation,
        lower_limit=[-c for c in z],
        abseps=1e-7,
        releps=1e-7,
        maxpts=4_000_000,
        rng=np.random.default_rng(1),
    )
    assert 1 - inside == pytest.approx(0.05, abs=3e-6)


@settings(max_examples=25)
@given(looks, st.floats(0.001, 0.3))
def test_all_of_alpha_is_spent_and_no_more(fractions: list[float], alpha: float) -> None:
    found = obrien_fleming_bounds(fractions, alpha)
    assert crossing(fractions, found.z).total == pytest.approx(alpha, rel=1e-6)
    assert found.spent[-1] == alpha
    assert list(found.spent) == sorted(found.spent)
    assert found.nominal_p == tuple(2 * normal_sf(z) for z in found.z)


@settings(max_examples=25)
@given(looks.filter(lambda t: len(t) > 1))
def test_earlier_boundaries_do_not_depend_on_later_looks(fractions: list[float]) -> None:
    whole = obrien_fleming_bounds(fractions)
    part = obrien_fleming_bounds(fractions[:-1], final=False)
    assert whole.z[:-1] == pytest.approx(part.z, abs=1e-7)


def test_spending_is_monotone_and_ends_at_alpha() -> None:
    spent = [obrien_fleming_spent(t / 20) for t in range(1, 21)]
    assert spent == sorted(spent)
    assert spent[-1] == obrien_fleming_spent(1.7) == 0.05
    assert obrien_fleming_spent(0.25) == pytest.approx(1.473361687e-05, rel=1e-8)


def test_one_look_is_the_ordinary_test() -> None:
    assert obrien_fleming_bounds([1.0]).z[0] == pytest.approx(normal_quantile(0.975))
    assert classic_obrien_fleming_bounds(1).z[0] == pytest.approx(normal_quantile(0.975))


@pytest.mark.parametrize(("k", "constant"), [(2, 1.977), (3, 2.004), (4, 2.024), (5, 2.040)])
def test_classic_constants_of_the_textbook(k: int, constant: float) -> None:
    # Jennison & Turnbull 2000, Table 2.3
    found = classic_obrien_fleming_bounds(k)
    assert found.z[-1] == pytest.approx(constant, abs=6e-4)
    assert found.spent[-1] == pytest.approx(0.05, abs=1e-8)
    assert found.z[0] == pytest.approx(found.z[-1] * math.sqrt(k))


def test_a_look_that_may_spend_nothing_cannot_stop() -> None:
    found = obrien_fleming_bounds([0.0001, 1.0])
    assert found.z[0] == 37.0
    assert found.z[1] == pytest.approx(normal_quantile(0.975), abs=1e-9)


def test_a_plan_that_ends_early_or_late_spends_the_rest() -> None:
    for fractions in ([0.25, 0.6], [0.5, 1.3]):
        found = obrien_fleming_bounds(fractions)
        assert crossing(fractions, found.z).total == pytest.approx(0.05, rel=1e-7)
    open_end = obrien_fleming_bounds([0.25, 0.6], final=False)
    assert crossing([0.25, 0.6], open_end.z).total == pytest.approx(open_end.spent[-1], rel=1e-7)
    assert open_end.spent[-1] < 0.05


def test_design_of_one_look_costs_nothing() -> None:
    found = sequential_design(obrien_fleming_bounds([1.0]))
    assert (found.inflation, found.average_h0) == pytest.approx((1.0, 1.0), abs=2e-5)
    four = sequential_design(obrien_fleming_bounds([0.25, 0.5, 0.75, 1.0]))
    assert four.cumulative_power[-1] == pytest.approx(0.8)
    assert "16 % fewer" in four.describe()


@settings(max_examples=15)
@given(st.floats(0.1, 6.0), st.integers(1, 3))
def test_inference_mirrors_and_orders(z: float, look: int) -> None:
    info, bounds = [25.0, 60.0, 100.0], list(obrien_fleming_bounds([0.25, 0.6, 1.0]).z)
    up, down = (sequential_inference(info, bounds, look, s * z) for s in (1, -1))
    assert down.median_unbiased == pytest.approx(-up.median_unbiased, abs=1e-7)
    assert down.interval.lower == pytest.approx(-up.interval.upper, abs=1e-7)
    assert down.p.value == pytest.approx(up.p.value)
    assert up.interval.lower < up.median_unbiased < up.interval.upper
    assert up.repeated.lower < up.naive < up.repeated.upper


def test_one_look_inference_is_the_ordinary_one() -> None:
    found = sequential_inference([100.0], [1.96], 1, 1.5)
    assert found.median_unbiased == pytest.approx(0.15)
    assert found.interval.upper == pytest.approx(0.15 + 0.1 * normal_quantile(0.975))
    assert found.p.value == pytest.approx(2 * normal_sf(1.5))
    assert (found.repeated.level, found.level, found.look, found.looks) == (0.95, 0.95, 1, 1)
    assert found.repeated.upper == pytest.approx(0.15 + 0.196)
    assert found.n == 100.0
    assert "optimistic" in found.describe()


def test_the_fair_estimate_after_an_early_stop_is_smaller() -> None:
    info, bounds = [50.0, 100.0], list(obrien_fleming_bounds([0.5, 1.0]).z)
    found = sequential_inference(info, bounds, 2, 3.2)
    assert 0 < found.median_unbiased < found.naive


def test_p_to_z_and_back() -> None:
    assert z_of_p(0.05) == pytest.approx(normal_quantile(0.975))
    assert z_of_p(1.0) == 0.0
    assert z_of_p(0.0) == 37.0


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: obrien_fleming_bounds([]), "fractions"),
        (lambda: obrien_fleming_bounds([0.5, 0.5]), "fractions"),
        (lambda: obrien_fleming_bounds([-1.0]), "fractions"),
        (lambda: obrien_fleming_bounds([1.0], 1.0), "alpha"),
        (lambda: obrien_fleming_spent(0.0), "fraction"),
        (lambda: classic_obrien_fleming_bounds(0), "looks"),
        (lambda: crossing([1.0], [1.0, 2.0]), "bounds"),
        (lambda: sequential_inference([1.0], [2.0], 2, 0.0), "stopped_look"),
        (lambda: sequential_inference([1.0], [2.0, 3.0], 1, 0.0), "bounds"),
        (lambda: sequential_inference([1.0], [2.0], 1, math.nan), "z"),
        (lambda: sequential_inference([1.0], [2.0], 1, 1e30), "z"),
        (lambda: sequential_inference([1.0], [math.nan], 1, 1.0), "bounds"),
        (lambda: crossing([1.0], [-2.0]), "bounds"),
        (lambda: crossing([1.0], [2.0], math.inf), "drift"),
        (lambda: crossing([math.inf], [2.0]), "info"),
        (lambda: sequential_design(obrien_fleming_bounds([1.0]), 0.01), "power"),
        (lambda: z_of_p(-0.1), "p"),
    ],
)
def test_bad_arguments_are_named(call: object, argument: str) -> None:
    assert callable(call)
    with pytest.raises(ArgumentError, match=f"^{argument}: "):
        call()


def test_words() -> None:
    text = obrien_fleming_bounds([0.5, 1.0]).describe()
    assert "after 50 % stop if p <= 0.0031" in text
    assert "5 %" in text


def test_a_huge_effect_stops_at_the_first_look() -> None:
    found = crossing([1.0, 2.0], [2.0, 2.0], drift=50.0)
    assert found.upper[0] == pytest.approx(1.0)
    assert found.upper[1] == pytest.approx(0.0, abs=1e-12)
    assert found.lower == pytest.approx((0.0, 0.0), abs=1e-12)


def test_a_late_stop_far_from_its_boundary_still_has_an_interval() -> None:
    bounds = list(obrien_fleming_bounds([0.1, 1.0]).z)
    found = sequential_inference([10.0, 100.0], bounds, 1, 9.0)
    assert found.interval.lower < found.median_unbiased < found.interval.upper
    weak = sequential_inference([10.0, 100.0], [1.0, 2.0], 2, 0.0)
    assert weak.interval.upper - weak.interval.lower > 8 * 0.1 * 0.4


def test_a_design_depends_on_shares_of_its_own_end_only() -> None:
    bounds = obrien_fleming_bounds([0.5, 1.0])
    stretched = replace(bounds, fractions=(1.0, 2.0))
    assert sequential_design(stretched).inflation == pytest.approx(
        sequential_design(bounds).inflation
    )
