"""Every number of a comparison, against an independent implementation."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
import pytest
from scipy import stats as scipy_stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from tests.analysis.comparing.conftest import Trials, arm, cases, compared, paired, side

from fairtrial.analysis.comparing.compare import compare
from fairtrial.analysis.comparing.deltas import MOST_SLICES
from fairtrial.model.columns import CaseLabels
from fairtrial.model.comparison import Change
from fairtrial.model.delta import Direction
from fairtrial.model.verdict import Cause

RNG = np.random.default_rng(11)
N, K = 40, 3
BEFORE = cases(RNG.integers(0, K + 1, N).tolist(), K)
AFTER = cases(RNG.integers(1, K + 1, N).tolist(), K)


def differences(a: Trials, b: Trials) -> np.ndarray:
    return np.array([b[case][0] / b[case][1] - a[case][0] / a[case][1] for case in a])


def test_the_delta_is_the_plain_mean_over_cases() -> None:
    delta = compared(BEFORE, AFTER).comparison.delta
    assert delta.estimate == pytest.approx(differences(BEFORE, AFTER).mean())
    assert delta.a == pytest.approx(np.mean([p / k for p, k in BEFORE.values()]))
    assert delta.b == pytest.approx(np.mean([p / k for p, k in AFTER.values()]))
    assert (delta.n, delta.clusters, delta.level) == (N, N, 0.95)


def test_the_guarded_interval_is_a_t_interval_with_two_pseudo_cases() -> None:
    delta = compared(BEFORE, AFTER).comparison.delta
    d = differences(BEFORE, AFTER)
    padded = np.concatenate([d, [1 / np.sqrt(K), -1 / np.sqrt(K)]])
    squares = ((padded - padded.mean()) ** 2).sum()
    se = np.sqrt(N / (N - 1) * squares) / (N + 2)
    half = scipy_stats.t.ppf(0.975, N - 1) * se
    assert delta.method == "guarded t"
    assert (delta.lower, delta.upper) == pytest.approx((padded.mean() - half, padded.mean() + half))


def test_the_p_value_is_that_of_all_sign_patterns() -> None:
    a, b = cases([0, 1, 1, 2, 3, 0, 0, 2, 1, 0], 3), cases([2, 3, 1, 3, 2, 1, 3, 3, 3, 0], 3)
    steps = np.rint(3 * differences(a, b)).astype(int)
    sums = np.array(
        [np.dot(signs, steps) for signs in itertools.product((-1, 1), repeat=len(steps))]
    )
    observed = abs(steps.sum())
    extreme = np.mean(np.abs(sums) >= observed)
    mid = extreme - 0.5 * np.mean(np.abs(sums) == observed)
    assert compared(a, b).comparison.delta.p == pytest.approx(mid)


def test_with_one_trial_it_is_mcnemar() -> None:
    a, b = cases([0] * 12 + [1] * 28, 1), cases([1] * 9 + [0] * 5 + [1] * 26, 1)
    delta = compared(a, b).comparison.delta
    fixed, broken = 9, 2
    # scipy.stats.binomtest(9, 11).pvalue less the probability of the outcome itself
    exact = scipy_stats.binomtest(fixed, fixed + broken).pvalue
    mid = exact - scipy_stats.binom.pmf(fixed, fixed + broken, 0.5)
    assert delta.p == pytest.approx(mid)
    assert delta.method == "tango"
    assert delta.verdict is Direction.BETTER


def test_graders_get_t_intervals_that_hold_together_and_holms_p() -> None:
    trials = cases([1] * 12, 1)
    names = ("fluency", "accuracy", "length")
    specs = [{"name": name, "kind": "judge", "required": False} for name in names]
    before, after = (
        {name: dict(zip(trials, RNG.random(12), strict=True)) for name in names} for _ in range(2)
    )
    spec = {"graders": specs}
    found = compare(
        side("a", spec=spec),
        side("b", spec=spec),
        paired(arm(trials, graders=before), arm(trials, graders=after)),
    ).comparison
    p = [part.delta.p for part in found.graders]
    assert [part.name for part in found.graders] == list(names)
    for part in found.graders:
        first = np.array(list(before[part.name].values()))
        second = np.array(list(after[part.name].values()))
        interval = scipy_stats.ttest_rel(second, first).confidence_interval(1 - 0.05 / 3)
        assert (part.delta.lower, part.delta.upper) == pytest.approx(tuple(interval))
        assert part.delta.estimate == pytest.approx((second - first).mean())
    assert [part.delta.p_adjusted for part in found.graders] == pytest.approx(
        multipletests(p, method="holm")[1].tolist()
    )


def test_slices_are_the_parts_of_the_rows_with_holms_p() -> None:
    tags = {case: ("even",) if number % 2 == 0 else ("odd",) for number, case in enumerate(BEFORE)}
    labels = {case: CaseLabels("test" if case < "c0010" else None, tags[case]) for case in BEFORE}
    rows = paired(arm(BEFORE), arm(AFTER), labels=labels)
    found = compare(side("a"), side("b"), rows).comparison
    parts = {(part.kind, part.name): part.delta for part in found.slices}
    assert list(parts) == [("split", "test"), ("tag", "even"), ("tag", "odd")]
    d = differences(BEFORE, AFTER)
    assert parts["tag", "even"].estimate == pytest.approx(d[::2].mean())
    assert parts["tag", "odd"].estimate == pytest.approx(d[1::2].mean())
    assert parts["split", "test"].estimate == pytest.approx(d[:10].mean())
    adjusted = multipletests([part.p for part in parts.values()], method="holm")[1]
    assert [part.p_adjusted for part in parts.values()] == pytest.approx(adjusted.tolist())


def test_conditions_are_slices_when_there_are_several() -> None:
    conditions = ["clean", "attack"] * (N // 2)
    rows = paired(arm(BEFORE, conditions=conditions), arm(AFTER, conditions=conditions))
    names = [(p.kind, p.name) for p in compare(side("a"), side("b"), rows).comparison.slices]
    assert names == [("condition", "attack"), ("condition", "clean")]


def test_the_largest_slices_are_tested() -> None:
    many = {f"c{n:04}": (n % 2, 1) for n in range(2 * MOST_SLICES)}
    labels = {
        case: CaseLabels(None, ("all", f"tag {number % (MOST_SLICES + 5)}"))
        for number, case in enumerate(many)
    }
    rows = paired(arm(many), arm(many), labels=labels)
    found = compare(side("a"), side("b"), rows).comparison
    assert len(found.slices) == MOST_SLICES
    assert found.slices_left_out == 6
    assert any(part.name == "all" for part in found.slices)


def test_what_a_trial_takes_is_compared_by_row() -> None:
    trials = cases([1] * 8, 1)
    first = RNG.random(8).tolist()
    second = RNG.random(8).tolist()
    a = arm(trials, costs=[*first[:6], None, 0.5], durations=first, tokens=[10] * 8)
    b = arm(trials, costs=[*second[:6], 0.1, None], durations=second, tokens=[12] * 8)
    cost, tokens, duration = compare(side("a"), side("b"), paired(a, b)).comparison.quantities
    interval = scipy_stats.ttest_rel(second, first).confidence_interval(0.95)
    assert (duration.lower, duration.upper) == pytest.approx(tuple(interval))
    assert cost.n == 6
    assert cost.a == pytest.approx(np.mean(first[:6]))
    assert cost.difference == pytest.approx(np.mean(second[:6]) - np.mean(first[:6]))
    assert (tokens.a, tokens.b, tokens.difference) == (10, 12, 2)
    assert tokens.lower is None
    assert "equal" in tokens.reason  # not an interval of width 0


def test_what_nobody_told_is_unknown_and_not_zero() -> None:
    cost, tokens, _ = compared(BEFORE, AFTER).comparison.quantities
    assert (cost.n, cost.a, cost.difference) == (0, None, None)
    assert tokens.b is None


def test_the_smallest_visible_difference_has_80_percent_power() -> None:
    smallest = compared(BEFORE, AFTER).comparison.smallest
    d = differences(BEFORE, AFTER)
    padded = np.concatenate([d, [1 / np.sqrt(K), -1 / np.sqrt(K)]])
    se = np.sqrt(N / (N - 1) * ((padded - padded.mean()) ** 2).sum()) / (N + 2)
    power = TTestPower().power(smallest.effect / (se * np.sqrt(N)), N, 0.05)
    assert power == pytest.approx(0.8, abs=1e-6)


def test_coverage_counts_what_the_numbers_rest_on() -> None:
    a = arm({"a": (1, 1), "lost": (0, 0), "gone": (1, 1), "c": (0, 1)}, undecided={"lost": 3})
    b = arm({"a": (1, 1), "lost": (1, 1), "new": (1, 1), "c": (1, 1)})
    found = compare(side("a"), side("b"), paired(a, b)).comparison
    coverage = found.coverage
    assert (coverage.paired, coverage.total, coverage.share) == (2, 5, 0.5)
    assert coverage.undecided_a == {Cause.INFRA: 3}
    assert (coverage.lost_a, coverage.lost_b) == (0.5, 0.0)
    assert found.counts[Change.UNDECIDED] == 1
    texts = [problem.what for problem in found.problems]
    assert any("50 % of the trials of a have no verdict" in text for text in texts)
    assert any("different shares" in text for text in texts)


def test_the_matrix_and_the_histogram_hold_every_row() -> None:
    found = compared(BEFORE, AFTER).comparison
    matrix: dict[tuple[int, int], int] = {}
    for case in BEFORE:
        pair = (BEFORE[case][0], AFTER[case][0])
        matrix[pair] = matrix.get(pair, 0) + 1
    assert found.matrix == matrix
    assert sum(bar.rows for bar in found.histogram) == N
    assert all(bar.lower == bar.upper for bar in found.histogram)
    assert [bar.lower for bar in found.histogram] == pytest.approx(
        sorted(set(np.round(differences(BEFORE, AFTER), 9)))
    )


def test_many_differences_share_broad_bars() -> None:
    a = {f"c{n}": (n, 40) for n in range(40)}
    b = {f"c{n}": (20, 40) for n in range(40)}
    bars = compared(a, b).comparison.histogram
    assert (bars[0].lower, bars[-1].upper, len(bars)) == (-1.0, 1.0, 10)
    assert sum(bar.rows for bar in bars) == 40


CLUSTERED: Mapping[str, str] = {case: f"repo {int(case[1:]) // 8}" for case in BEFORE}


def test_clusters_are_the_units() -> None:
    found = compared(BEFORE, AFTER, clusters=list(CLUSTERED.values())).comparison
    assert (found.delta.n, found.delta.clusters) == (N, 5)
    assert any("only 5 clusters" in problem.what for problem in found.problems)
    assert found.delta.p is not None
    assert found.smallest.n == 5


def test_an_interval_can_be_chosen() -> None:
    assert compared(BEFORE, AFTER, ci="t").comparison.delta.method == "paired t"
    d = differences(BEFORE, AFTER)
    interval = scipy_stats.ttest_1samp(d, 0.0).confidence_interval(0.95)
    delta = compared(BEFORE, AFTER, ci="t").comparison.delta
    assert (delta.lower, delta.upper) == pytest.approx(tuple(interval))
