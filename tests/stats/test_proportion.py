import math
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as scipy_t
from statsmodels.stats.proportion import proportion_confint

from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.proportion import clopper_pearson, clopper_pearson_upper, pass_rate, wilson


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_agrees_with_statsmodels(pair: tuple[int, int]) -> None:
    hits, n = pair
    ours = wilson(hits, n, 0.9)
    lower, upper = proportion_confint(hits, n, alpha=0.1, method="wilson")
    assert ours.lower == pytest.approx(lower, abs=1e-12)
    assert ours.upper == pytest.approx(upper, abs=1e-12)


@given(st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_clopper_pearson_agrees_with_statsmodels(pair: tuple[int, int]) -> None:
    hits, n = pair
    ours = clopper_pearson(hits, n)
    lower, upper = proportion_confint(hits, n, method="beta")
    assert ours.lower == pytest.approx(lower, abs=1e-9)
    assert ours.upper == pytest.approx(upper, abs=1e-9)


def test_one_sided_bound_needs_29_clean_cases_to_get_below_a_tenth() -> None:
    assert clopper_pearson_upper(0, 28) > 0.1 > clopper_pearson_upper(0, 29)


def test_wilson_takes_a_fractional_effective_n() -> None:
    z = 1.959963984540054
    ours = wilson(2.5, 7.5)
    for end in (ours.lower, ours.upper):
        assert abs(end - 1 / 3) == pytest.approx(z * math.sqrt(end * (1 - end) / 7.5), abs=1e-12)


def test_single_trials_get_wilson_over_cases() -> None:
    rate = pass_rate({(1, 1): 15, (0, 1): 133})
    assert rate.interval == wilson(15, 148)
    assert (rate.estimate, rate.n, rate.trials, rate.method) == (15 / 148, 148, 148, "wilson")
    assert "15" not in rate.reason
    assert "10.1 % of 148 cases" in rate.describe()


def test_several_trials_get_t_over_case_means() -> None:
    means = [0, 1 / 3, 2 / 3, 1] * 5
    rate = pass_rate({(0, 3): 5, (1, 3): 5, (2, 3): 5, (3, 3): 5})
    mean = sum(means) / 20
    se = math.sqrt(sum((m - mean) ** 2 for m in means) / 19 / 20)
    half = float(scipy_t.ppf(0.975, 19)) * se
    assert rate.interval is not None
    assert rate.interval.lower == pytest.approx(mean - half, abs=1e-12)
    assert rate.interval.upper == pytest.approx(mean + half, abs=1e-12)
    assert (rate.method, rate.n, rate.trials) == ("cluster t", 20, 60)


@pytest.mark.parametrize("passed", [0, 3])
def test_all_failed_or_all_passed_counts_cases_not_trials(passed: int) -> None:
    rate = pass_rate({(passed, 3): 20})
    assert rate.interval == wilson(20 * passed / 3, 20)
    assert rate.n_effective == 20


def test_equal_rates_that_no_float_holds_exactly_are_still_equal() -> None:
    rate = pass_rate({(1, 3): 7, (2, 6): 4})
    assert rate.interval is not None
    assert rate.n_effective == 11
    assert rate.interval.lower < 1 / 3 < rate.interval.upper


def test_near_the_end_the_interval_stays_inside_and_positive() -> None:
    rate = pass_rate({(3, 3): 19, (2, 3): 1})
    assert rate.interval is not None
    assert rate.estimate is not None
    assert rate.interval.lower < rate.estimate < rate.interval.upper < 1
    assert rate.n_effective is not None
    assert rate.n_effective <= 60


def test_one_case_with_several_trials_counts_once() -> None:
    rate = pass_rate({(2, 3): 1})
    assert rate.interval == wilson(2 / 3, 1)
    assert "one case" in rate.reason


@pytest.mark.parametrize("counts", [{}, {(0, 0): 9}, {(1, 1): 0}])
def test_nothing_decided_is_none_with_a_reason(counts: dict[tuple[int, int], int]) -> None:
    rate = pass_rate(counts)
    assert rate.estimate is None
    assert rate.interval is None
    assert rate.describe() == "No pass rate: no trial was decided."


def test_cases_without_a_decided_trial_change_nothing() -> None:
    assert pass_rate({(1, 1): 4, (0, 0): 9}) == pass_rate({(1, 1): 4})


@given(
    st.dictionaries(
        st.integers(1, 5).flatmap(lambda k: st.tuples(st.integers(0, k), st.just(k))),
        st.integers(1, 30),
        min_size=1,
    )
)
def test_counting_failures_mirrors_counting_passes(counts: dict[tuple[int, int], int]) -> None:
    rate = pass_rate(counts)
    mirrored = pass_rate({(k - c, k): cases for (c, k), cases in counts.items()})
    assert rate.estimate is not None
    assert mirrored.estimate == pytest.approx(1 - rate.estimate, abs=1e-12)
    assert rate.interval is not None
    assert mirrored.interval is not None
    assert mirrored.interval.lower == pytest.approx(1 - rate.interval.upper, abs=1e-9)
    assert 0 <= rate.interval.lower <= rate.estimate <= rate.interval.upper <= 1


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: wilson(3, 2), "successes"),
        (lambda: wilson(-1, 2), "successes"),
        (lambda: wilson(0, 0), "n"),
        (lambda: wilson(1, math.nan), "n"),
        (lambda: wilson(1, 2, 1.0), "level"),
        (lambda: clopper_pearson(3, 2), "successes"),
        (lambda: clopper_pearson(1.5, 2), "successes"),  # type: ignore[arg-type]
        (lambda: clopper_pearson(0, 0), "n"),
        (lambda: clopper_pearson(0, 1, 0.0), "level"),
        (lambda: pass_rate({(2, 1): 1}), "counts"),
        (lambda: pass_rate({(1, 1): -1}), "counts"),
        (lambda: pass_rate({(1, 1): 1}, level=2), "level"),
    ],
)
def test_bad_arguments_are_named(call: object, argument: str) -> None:
    assert callable(call)
    with pytest.raises(ArgumentError, match=f"^{argument}: ") as caught:
        call()
    assert caught.value.argument == argument


def test_importing_rates_does_not_import_numpy() -> None:
    code = "import sys, fairtrial.stats.proportion; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_effective_n_by_hand() -> None:
    rate = pass_rate({(3, 3): 19, (2, 3): 1})
    mean = (19 + 2 / 3) / 20
    variance = (19 * (1 - mean) ** 2 + (2 / 3 - mean) ** 2) / 19 / 20
    z, t = 1.959963984540054, float(scipy_t.ppf(0.975, 19))
    expected = min(60.0, mean * (1 - mean) / variance) * (z / t) ** 2
    assert rate.n_effective == pytest.approx(expected)
    assert rate.interval is not None
    assert rate.interval.lower == pytest.approx(wilson(mean * expected, expected).lower)


@pytest.mark.parametrize("n", [1, 3, 7, 50, 149])
def test_the_ends_are_reached_exactly(n: int) -> None:
    assert wilson(0, n).lower == 0.0
    assert wilson(n, n).upper == 1.0
    assert clopper_pearson(0, n).lower == 0.0
    assert clopper_pearson(n, n).upper == 1.0
