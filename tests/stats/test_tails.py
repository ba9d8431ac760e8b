import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats as oracle

from fairtrial.stats import tails
from fairtrial.stats.errors import ArgumentError

PRECISION = 1e-9


def shapes() -> st.SearchStrategy[float]:
    return st.one_of(st.floats(0.2, 50), st.floats(50, 1e6))


@given(st.floats(-37, 37))
def test_normal_tails(z: float) -> None:
    assert tails.normal_cdf(z) == pytest.approx(oracle.norm.cdf(z), rel=1e-12)
    assert tails.normal_sf(z) == pytest.approx(oracle.norm.sf(z), rel=1e-12)
    assert tails.normal_pdf(z) == pytest.approx(oracle.norm.pdf(z), rel=1e-12)


@given(st.floats(1e-300, 1 - 1e-15))
def test_normal_quantile(p: float) -> None:
    assert tails.normal_quantile(p) == pytest.approx(oracle.norm.ppf(p), rel=1e-12, abs=1e-12)


@given(shapes(), shapes(), st.floats(-9, 9))
def test_beta_tails_around_the_mean_and_far_out(a: float, b: float, shift: float) -> None:
    mean, sd = oracle.beta.mean(a, b), oracle.beta.std(a, b)
    x = mean + shift * sd
    assume(0 < x < 1)
    lower, upper = tails.beta_tails(a, b, x)
    assert lower == pytest.approx(oracle.beta.cdf(x, a, b), rel=PRECISION, abs=1e-14)
    assert upper == pytest.approx(oracle.beta.sf(x, a, b), rel=PRECISION, abs=1e-14)


def test_beta_tails_at_the_ends() -> None:
    assert tails.beta_tails(2, 3, 0.0) == (0.0, 1.0)
    assert tails.beta_tails(2, 3, 1.0) == (1.0, 0.0)


@given(st.floats(1e-9, 1 - 1e-9), shapes(), shapes())
def test_beta_quantile_inverts_the_tail(p: float, a: float, b: float) -> None:
    x = tails.beta_quantile(p, a, b)
    lower, upper = tails.beta_tails(a, b, x)
    slope = oracle.beta.pdf(x, a, b) if 0 < x < 1 else 1.0
    assert min(abs(lower - p), abs(upper - (1 - p))) <= 1e-9 + 1e-12 * slope


@given(st.floats(-60, 60), st.floats(1, 2e6))
def test_t_tails(t: float, df: float) -> None:
    assert tails.t_sf(t, df) == pytest.approx(oracle.t.sf(t, df), rel=1e-8, abs=1e-300)
    assert tails.t_cdf(t, df) == pytest.approx(oracle.t.cdf(t, df), rel=1e-8, abs=1e-300)


def test_t_at_the_ends_and_with_endless_degrees_of_freedom() -> None:
    assert tails.t_sf(math.inf, 3) == 0.0
    assert tails.t_sf(-math.inf, 3) == 1.0
    assert tails.t_sf(1.3, math.inf) == tails.normal_sf(1.3)
    assert tails.t_sf(1.3, 1e308) == tails.normal_sf(1.3)


@given(st.floats(1e-10, 1 - 1e-10), st.floats(1, 1e6))
def test_t_quantile(p: float, df: float) -> None:
    assert tails.t_quantile(p, df) == pytest.approx(oracle.t.ppf(p, df), rel=1e-8, abs=1e-9)


@given(
    st.integers(0, 2_000_000).flatmap(lambda n: st.tuples(st.just(n), st.integers(-1, n + 1))),
    st.one_of(st.sampled_from([0.0, 1.0]), st.floats(1e-9, 1 - 1e-9)),
)
def test_binomial_anywhere(pair: tuple[int, int], p: float) -> None:
    n, k = pair
    assert tails.binomial_sf(k, n, p) == pytest.approx(oracle.binom.sf(k - 1, n, p), abs=1e-10)
    assert tails.binomial_cdf(k, n, p) == pytest.approx(oracle.binom.cdf(k, n, p), abs=1e-10)
    assert tails.binomial_pmf(k, n, p) == pytest.approx(oracle.binom.pmf(k, n, p), abs=1e-10)


@given(st.integers(1, 2_000_000), st.floats(0.05, 0.95), st.floats(-12, 12))
def test_binomial_near_its_mean_to_relative_precision(n: int, p: float, shift: float) -> None:
    k = min(max(round(n * p + shift * math.sqrt(n * p * (1 - p))), 0), n)
    for ours, theirs in (
        (tails.binomial_sf(k, n, p), oracle.binom.sf(k - 1, n, p)),
        (tails.binomial_cdf(k, n, p), oracle.binom.cdf(k, n, p)),
        (tails.binomial_pmf(k, n, p), oracle.binom.pmf(k, n, p)),
    ):
        assert ours == pytest.approx(theirs, rel=1e-8, abs=1e-300)


def test_far_tails_keep_their_digits() -> None:
    exact = sum(math.comb(1000, j) for j in range(900, 1001)) / 2**1000
    assert tails.binomial_sf(900, 1000, 0.5) == pytest.approx(exact, rel=1e-12)
    assert tails.binomial_cdf(100, 1000, 0.5) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: tails.normal_quantile(0.0), "p"),
        (lambda: tails.beta_tails(0.0, 1.0, 0.5), "a"),
        (lambda: tails.beta_tails(1.0, math.inf, 0.5), "b"),
        (lambda: tails.beta_tails(1.0, 1.0, 1.5), "x"),
        (lambda: tails.beta_quantile(1.0, 1.0, 1.0), "p"),
        (lambda: tails.t_sf(math.nan, 3), "t"),
        (lambda: tails.t_sf(1.0, 0.0), "df"),
        (lambda: tails.t_quantile(1.0, 5), "p"),
        (lambda: tails.binomial_sf(1, -1, 0.5), "n"),
        (lambda: tails.binomial_sf(math.nan, 3, 0.5), "k"),
        (lambda: tails.binomial_cdf(1, 2, 1.5), "p"),
        (lambda: tails.binomial_pmf(1, 2, math.nan), "p"),
    ],
)
def test_bad_arguments_are_named(call: object, argument: str) -> None:
    assert callable(call)
    with pytest.raises(ArgumentError, match=f"^{argument}: "):
        call()
