import itertools
import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate
from scipy import stats as oracle
from statsmodels.stats.power import TTestPower

from fairtrial.stats.chi import scale_nodes
from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.halving import default_budget, halving_plan, survivors
from fairtrial.stats.power import (
    PairedDesign,
    flaky_design,
    mcnemar_power,
    paired_sample_size,
    smallest_effect,
    t_test_power,
)
from fairtrial.stats.tails import t_quantile
from fairtrial.stats.trials import from_counts, from_scores
from fairtrial.stats.variance import variance_components


def test_the_published_example_needs_969_cases() -> None:
    # Miller 2024: omega² 1/9, within-case variances 1/6, one trial would need more
    design = PairedDesign(1 / 9, 0.0, 0.0)
    assert paired_sample_size(design, 0.03).n == 969


@given(st.floats(0.01, 0.4), st.integers(1, 9), st.floats(0.01, 0.3))
def test_size_and_smallest_effect_are_inverse(between: float, trials: int, effect: float) -> None:
    design = PairedDesign(between, 0.1, 0.2, trials, trials)
    n = paired_sample_size(design, effect).n
    if n < 10_000:
        return
    found = smallest_effect(n, design.variance)
    assert found.method == "normal approximation"
    assert found.effect is not None
    assert found.effect <= effect
    assert found.effect == pytest.approx(effect, rel=1e-4)


@pytest.mark.parametrize("n", [5, 10, 20, 50, 300])
def test_smallest_effect_agrees_with_statsmodels(n: int) -> None:
    theirs = TTestPower().solve_power(nobs=n, alpha=0.05, power=0.9)
    assert smallest_effect(n, 1.0, power=0.9).effect == pytest.approx(theirs, abs=1e-5)


@pytest.mark.parametrize("df", [1, 2, 5, 30, 400])
@pytest.mark.parametrize("noncentrality", [0.0, 0.7, 2.5, 8.0])
def test_noncentral_t_agrees_with_quadrature(noncentrality: float, df: int) -> None:
    critical = t_quantile(0.975, df)
    scale = oracle.chi(df, scale=1 / math.sqrt(df))

    def beyond(s: float) -> float:
        edge = critical * s
        tails = oracle.norm.sf(edge - noncentrality) + oracle.norm.sf(edge + noncentrality)
        return float(tails * scale.pdf(s))

    middle = scale.median()
    parts = [(0.0, middle / 4), (middle / 4, middle), (middle, scale.isf(1e-14))]
    expected = sum(integrate.quad(beyond, *part, epsabs=1e-12)[0] for part in parts)
    assert t_test_power(noncentrality, df, critical) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("alpha", [0.2, 0.05, 0.01, 0.001])
@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_two_to_six_cases_see_only_what_quadrature_says(n: int, alpha: float) -> None:
    critical = oracle.t.isf(alpha / 2, n - 1)
    effect = smallest_effect(n, 1.0, alpha=alpha).effect
    assert effect is not None
    shift = effect * math.sqrt(n)
    scale = oracle.chi(n - 1, scale=1 / math.sqrt(n - 1))

    def beyond(s: float) -> float:
        tails = oracle.norm.sf(critical * s - shift) + oracle.norm.sf(critical * s + shift)
        return float(tails * scale.pdf(s))

    turn = shift / critical
    ends = [0.0, max(0.0, turn - 8 / critical), turn, turn + 8 / critical, 9.0]
    power = sum(integrate.quad(beyond, *part, epsabs=1e-12)[0] for part in pairwise(ends))
    assert power == pytest.approx(0.8, abs=1e-7)


@pytest.mark.parametrize("df", [1, 2, 7, 100, 20_000])
def test_scale_nodes_integrate_to_one_and_to_the_variance(df: int) -> None:
    scale, weight = scale_nodes(df)
    assert weight.sum() == pytest.approx(1.0, abs=1e-10)
    assert weight @ scale**2 == pytest.approx(1.0, abs=1e-8)


@pytest.mark.parametrize(
    ("n", "flip", "trials", "visible"),
    [(20, 0.08, 1, 0.18), (20, 0.4, 3, 0.23), (50, 0.25, 1, 0.20), (100, 0.4, 3, 0.10)],
)
def test_visible_differences_of_flaky_suites(
    n: int, flip: float, trials: int, visible: float
) -> None:
    effect = smallest_effect(n, flaky_design(flip, trials).variance).effect
    # the table is simulated with t tests on discrete scores, so it agrees to a few hundredths
    assert effect == pytest.approx(visible, abs=0.025)


def test_more_cases_and_more_trials_see_more() -> None:
    effects = [smallest_effect(n, 0.2).effect for n in (5, 10, 50, 500, 9_999, 10_000)]
    assert all(e is not None for e in effects)
    assert effects == sorted(effects, reverse=True)  # type: ignore[type-var]
    assert flaky_design(0.3, 3).variance < flaky_design(0.3, 1).variance


def test_what_cannot_be_planned_says_so() -> None:
    assert smallest_effect(1, 0.2).effect is None
    for found in (smallest_effect(1, 0.2, alpha=0.1), smallest_effect(9, 0.0, alpha=0.1)):
        assert (found.alpha, found.power) == (0.1, 0.8)
    assert "unknown" in smallest_effect(9, 0.0).describe()
    assert "With 20 cases" in smallest_effect(20, 0.2).describe()
    assert "cases are needed" in paired_sample_size(flaky_design(0.2), 0.1).describe()


def test_mcnemar_power_by_enumeration() -> None:
    n, up, down = 14, 0.4, 0.1
    total = 0.0
    for fixed in range(n + 1):
        for broken in range(n + 1 - fixed):
            m = fixed + broken
            if m and fixed > broken and oracle.binomtest(fixed, m).pvalue <= 0.05:
                cells = [fixed, broken, n - m]
                total += oracle.multinomial.pmf(cells, n, [up, down, 1 - up - down])
    assert mcnemar_power(up, down, n) == pytest.approx(total, abs=1e-10)
    assert mcnemar_power(down, up, n) == pytest.approx(total, abs=1e-10)
    assert mcnemar_power(0.0, 0.0, n) == 0.0
    assert mcnemar_power(1.0, 0.0, 5) == 0.0
    assert mcnemar_power(1.0, 0.0, 6) == 1.0


def test_mcnemar_power_of_many_cases_is_the_normal_one() -> None:
    # Connett, Smith & McHugh 1987, with changed cases p and difference delta
    n, up, down = 200_000, 0.101, 0.099
    p, delta = up + down, up - down
    normal = oracle.norm.cdf(
        (delta * math.sqrt(n) - 1.959964 * math.sqrt(p)) / math.sqrt(p - delta**2)
    )
    assert mcnemar_power(up, down, n) == pytest.approx(normal, abs=0.003)


@given(st.integers(2, 60), st.integers(1, 3000))
def test_a_race_halves_and_stays_in_its_budget(configs: int, more: int) -> None:
    rounds = math.ceil(math.log2(configs))
    plan = halving_plan(configs, configs * rounds + more)
    assert len(plan.rounds) == rounds
    assert plan.used <= plan.budget
    assert plan.n == configs
    assert plan.used == sum(r.configs * r.per_config for r in plan.rounds)
    alive = [r.configs for r in plan.rounds]
    assert alive[0] == configs
    assert all(after == (before + 1) // 2 for before, after in itertools.pairwise(alive))
    assert alive[-1] == 2


def test_default_budget_shows_finalists_every_case() -> None:
    assert default_budget(8, 100) == 342
    assert default_budget(2, 7) == 14
    plan = halving_plan(8, default_budget(8, 700))
    assert plan.cases == pytest.approx(700, abs=3)
    assert "held-out" in plan.describe()


@given(st.integers(2, 300), st.integers(1, 5_000))
def test_the_default_budget_is_the_formula_in_exact_fractions(configs: int, cases: int) -> None:
    left, alive = [], configs
    while alive > 1:
        left.append(Fraction(1, alive))
        alive = -(-alive // 2)
    exact = cases * len(left) / sum(left)
    assert default_budget(configs, cases) == math.floor(exact)
    if default_budget(configs, cases) >= configs * len(left):
        plan = halving_plan(configs, default_budget(configs, cases))
        assert cases - len(left) <= plan.cases <= cases


def test_survivors_are_the_better_half_and_ties_go_to_the_earlier() -> None:
    assert survivors([0.5, 0.5, 0.5, 0.5]) == (0, 1)
    assert survivors([0.1, 0.9, 0.2, 0.3, 0.9]) == (1, 3, 4)
    assert survivors([0.1, 0.2]) == (1,)


@given(st.lists(st.lists(st.integers(0, 1), min_size=3, max_size=3), min_size=2, max_size=20))
def test_flip_rate_is_the_share_of_pairs_that_differ(rows: list[list[int]]) -> None:
    found = variance_components(from_scores("rows", [[float(v) for v in r] for r in rows]))
    pairs = [(r[i], r[j]) for r in rows for i in range(3) for j in range(3) if i != j]
    assert found.flip_rate == pytest.approx(sum(a != b for a, b in pairs) / len(pairs))
    means = np.mean(rows, axis=1)
    assert found.ms_between == pytest.approx(3 * means.var(ddof=1))


def test_unbalanced_trials_agree_with_the_anova_of_statsmodels() -> None:
    rows = [[0.1, 0.4, 0.3], [0.9], [0.5, 0.7], [0.2, 0.2, 0.3, 0.6]]
    found = variance_components(from_scores("rows", rows))
    f = oracle.f_oneway(*rows).statistic
    assert found.ms_between is not None
    assert found.ms_within is not None
    # F weighs case means by their trials, as MSB here does
    assert found.ms_between / found.ms_within == pytest.approx(f)
    k = np.array([3, 1, 2, 4])
    balance = (10 - (k**2).sum() / 10) / 3
    assert found.between == pytest.approx((found.ms_between - found.ms_within) / balance)
    assert found.flip_rate is None
    assert found.icc == pytest.approx(found.between / (found.between + found.within))  # type: ignore[operator]


def test_components_that_cannot_be_known_are_none() -> None:
    single = variance_components(from_counts([1, 0], [1, 1]))
    assert single.within is None
    assert "one trial a case" in single.describe()
    one_case = variance_components(from_counts([1], [3]))
    assert one_case.between is None
    assert one_case.flip_rate == pytest.approx(2 / 3)
    dead = variance_components(from_counts([3, 3], [3, 3]))
    assert (dead.icc, dead.flip_rate, dead.reason) == (None, 0.0, "nothing varies")
    assert "the verdict flips" in one_case.describe()
    noisy = variance_components(from_counts([1, 2], [3, 3]))
    assert noisy.between == 0.0


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: paired_sample_size(flaky_design(0.2), 0.0), "effect"),
        (lambda: paired_sample_size(flaky_design(0.2), 0.1, power=1.0), "power"),
        (lambda: flaky_design(1.5), "flip_rate"),
        (lambda: PairedDesign(-1.0, 0.0, 0.0), "between"),
        (lambda: PairedDesign(1.0, 0.0, 0.0, 0), "trials_baseline"),
        (lambda: smallest_effect(9, 0.2, alpha=0.9), "power"),
        (lambda: mcnemar_power(0.9, 0.2, 9), "p_broken"),
        (lambda: flaky_design(0.1, 0), "trials"),
        (lambda: paired_sample_size(PairedDesign(0.1, 0.1, 0.1), 1e308), "effect"),
        (lambda: paired_sample_size(PairedDesign(0.1, 0.1, 0.1), 1e-200), "effect"),
        (lambda: halving_plan(1, 9), "configs"),
        (lambda: halving_plan(8, 23), "budget"),
        (lambda: default_budget(8, 0), "cases"),
        (lambda: survivors([0.1]), "means"),
        (lambda: survivors([0.1, math.nan]), "means"),
        (lambda: variance_components(from_counts([], [])), "arm"),
    ],
)
def test_bad_arguments_are_named(call: object, argument: str) -> None:
    assert callable(call)
    with pytest.raises(ArgumentError, match=f"^{argument}: "):
        call()


def test_a_budget_too_small_for_a_case_each_names_the_least() -> None:
    with pytest.raises(ArgumentError, match="at least 24 for 8"):
        halving_plan(8, 23)
    assert halving_plan(8, 24).cases == 1 + 2 + 4
