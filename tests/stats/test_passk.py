import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate
from scipy import stats as oracle

from fairtrial.stats.adaptive import (
    adaptive_expectation,
    adaptive_suite,
    adaptive_verdict,
    needs_third,
)
from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.passk import pass_at_k, pass_hat_k, pass_metrics, seq_at_k
from fairtrial.stats.proportion import pass_rate, wilson
from fairtrial.stats.selection import failing_subset_gain

cases = st.integers(1, 7).flatmap(
    lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, 9))
)


@given(cases)
def test_pass_at_k_by_all_subsets(case: tuple[int, int, int]) -> None:
    n, c, k = case
    at, hat = pass_at_k(n, c, k), pass_hat_k(n, c, k)
    if k > n:
        assert at is None
        assert hat is None
        return
    draws = list(itertools.combinations([1] * c + [0] * (n - c), k))
    assert at == pytest.approx(sum(any(d) for d in draws) / len(draws))
    assert hat == pytest.approx(sum(all(d) for d in draws) / len(draws))


def test_pass_at_k_does_not_overflow() -> None:
    expected = 1 - math.comb(99_000, 500) / math.comb(100_000, 500)
    assert pass_at_k(100_000, 1_000, 500) == pytest.approx(expected, rel=1e-9)
    assert pass_hat_k(100_000, 99_000, 500) == pytest.approx(1 - expected, rel=1e-9)


def test_a_suite_averages_over_the_cases_that_have_enough_trials() -> None:
    found = pass_metrics([(3, 1), (3, 3), (1, 0)], [1, 3, 5])
    assert found.at[1].estimate == pytest.approx((1 / 3 + 1 + 0) / 3)
    assert (found.at[3].estimate, found.at[3].n, found.at[3].n_total) == (1.0, 2, 3)
    assert found.hat[3].estimate == pytest.approx(0.5)
    assert found.at[5].estimate is None
    assert "no case has that many trials" in found.at[5].describe()
    assert found.flaky == 1
    interval = found.hat[3].interval
    assert interval is not None
    assert (interval.lower, interval.upper) == (0.0, 1.0)
    assert found.at[3].interval is None
    assert "1 of 3 cases are flaky" in found.describe()


def test_seq_counts_cases_solved_so_far() -> None:
    attempts = [[0, 1], [1], [0, 0, 1], [0, 0, 0]]
    found = seq_at_k(attempts, 4)
    assert [v.estimate for v in found] == [0.25, 0.5, 0.75, 0.75]
    assert found[1].interval == wilson(2, 4)
    assert found[0].name == "seq@1"
    assert seq_at_k([], 2)[1].estimate is None


@pytest.mark.parametrize("p", [0.0, 0.2, 0.5, 0.93, 1.0])
def test_adaptive_expectation_by_enumeration(p: float) -> None:
    verdict = mean = first_two = 0.0
    for outcome in itertools.product((0, 1), repeat=3):
        chance = math.prod(p if hit else 1 - p for hit in outcome)
        ran = outcome if needs_third(*map(bool, outcome[:2])) else outcome[:2]
        verdict += chance * adaptive_verdict(ran)
        mean += chance * sum(ran) / len(ran)
        first_two += chance * sum(outcome[:2]) / 2
    found = adaptive_expectation(p)
    assert found.p_verdict == pytest.approx(verdict)
    assert found.mean_of_trials == pytest.approx(mean)
    assert found.mean_of_first_two == pytest.approx(first_two)


def test_adaptive_suite_takes_pass_at_1_from_the_first_two_trials() -> None:
    found = adaptive_suite([[1, 0, 1], [0, 0], [1, 1], [1, 0, 0], [1, 0]])
    assert found.verdict_rate == pytest.approx(2 / 5)
    assert found.interval == wilson(2, 5)
    assert found.pass_at_1 == pass_rate({(1, 2): 3, (0, 2): 1, (2, 2): 1})
    assert found.trials == 12
    assert adaptive_suite([]).verdict_rate is None
    assert "No verdicts" in adaptive_suite([]).describe()
    assert "40.0 % of 5 cases" in found.describe()
    assert "16.8 %" in adaptive_expectation(0.2).describe()


@pytest.mark.parametrize(("a", "b", "k"), [(0.1, 0.1, 1), (0.5, 0.5, 3), (2.0, 2.0, 1)])
def test_gain_of_an_unchanged_agent_by_quadrature(a: float, b: float, k: int) -> None:
    def weigh(p: float, power: int) -> float:
        return float(p**power * (1 - p) ** k * oracle.beta.pdf(p, a, b))

    top = integrate.quad(weigh, 0, 1, args=(1,), limit=200)[0]
    bottom = integrate.quad(weigh, 0, 1, args=(0,), limit=200)[0]
    found = failing_subset_gain(a, b, k)
    assert found.estimate == pytest.approx(top / bottom, abs=1e-6)
    assert "without any change" in found.describe()


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: pass_at_k(0, 0, 1), "n"),
        (lambda: pass_at_k(2, 3, 1), "c"),
        (lambda: pass_hat_k(2, 1, 0), "k"),
        (lambda: seq_at_k([], 0), "most"),
        (lambda: adaptive_verdict([]), "trials"),
        (lambda: adaptive_expectation(1.1), "p"),
        (lambda: failing_subset_gain(0.0, 1.0), "beta_a"),
        (lambda: failing_subset_gain(1.0, 1.0, 0), "trials"),
    ],
)
def test_bad_arguments_are_named(call: object, argument: str) -> None:
    assert callable(call)
    with pytest.raises(ArgumentError, match=f"^{argument}: "):
        call()


def test_one_trial_selects_unless_told_otherwise() -> None:
    found = failing_subset_gain(0.5, 0.5)
    assert (found.estimate, found.trials) == (0.25, 1)
    assert failing_subset_gain(0.5, 0.5, 3).trials == 3
