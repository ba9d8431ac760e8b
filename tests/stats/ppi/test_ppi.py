from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.paired.student import cluster_t
from fairtrial.stats.ppi.difference import (
    JudgedArm,
    judged_arm,
    ppi_difference,
    ppi_influence,
    unseen_disagreement,
)
from fairtrial.stats.ppi.mean import judge_weight, ppi_mean
from fairtrial.stats.ppi.poststratified import (
    post_stratified_difference,
    post_stratified_influence,
    selection_test,
)
from fairtrial.stats.tails import t_sf

NAN = float("nan")


def _scene(seed: int, n: int = 120, labels: int = 40) -> tuple[JudgedArm, JudgedArm]:
    rng = np.random.default_rng(seed)
    arms = []
    for shift in (0.0, 0.15):
        truth = (rng.random(n) < 0.5 + shift).astype(float)
        judge = np.where(rng.random(n) < 0.8, truth, 1.0 - truth)
        known = np.full(n, NAN)
        picked = rng.permutation(n)[:labels]
        known[picked] = truth[picked]
        arms.append(judged_arm(known, judge))
    return arms[0], arms[1]


@given(st.integers(0, 10_000), st.booleans())
def test_mean_agrees_with_ppi_python(seed: int, graded: bool) -> None:  # noqa: FBT001
    rng = np.random.default_rng(seed)
    n, many = int(rng.integers(5, 40)), int(rng.integers(20, 90))
    judge = rng.random(n + many) if graded else rng.integers(0, 2, n + many).astype(float)
    labels = np.clip(judge[:n] + rng.normal(0, 0.4, n), 0, 1)
    if np.ptp(labels) == 0.0 or np.ptp(judge) == 0.0:
        return
    found = ppi_mean(labels, judge[:n], judge[n:], level=0.9)
    estimate = ppi_mean_pointestimate(labels, judge[:n], judge[n:])
    low, high = ppi_mean_ci(labels, judge[:n], judge[n:], alpha=0.1)
    assert found.estimate == pytest.approx(float(np.ravel(estimate)[0]), abs=1e-9)
    assert found.interval_z is not None
    assert found.interval is not None
    assert found.interval_z.lower == pytest.approx(float(np.ravel(low)[0]), abs=1e-9)
    assert found.interval_z.upper == pytest.approx(float(np.ravel(high)[0]), abs=1e-9)
    assert found.interval.width > found.interval_z.width


def test_a_judge_that_never_varies_adds_nothing() -> None:
    found = ppi_mean([1.0, 0.0, 1.0, 1.0], [1.0] * 4, [1.0] * 9)
    assert found.weight == 0.0
    assert found.estimate == 0.75
    assert found.method == "labels only"


def test_without_unlabelled_cases_it_is_the_classical_mean_with_t() -> None:
    labels = [1.0, 0.0, 1.0, 1.0, 0.0]
    found = ppi_mean(labels, [1.0, 1.0, 1.0, 0.0, 0.0], [])
    assert found.estimate == pytest.approx(0.6)
    assert found.interval is not None
    se = np.std(labels, ddof=1) / np.sqrt(5)
    assert found.interval.width == pytest.approx(2 * 2.7764451051977987 * se)


def test_an_opposed_judge_gets_no_negative_weight() -> None:
    labels, judge = np.array([1.0, 0.0, 1.0, 0.0]), np.array([0.0, 1.0, 0.0, 1.0])
    assert judge_weight(labels, judge, judge) == 0.0


def test_one_label_or_equal_labels_have_no_interval() -> None:
    assert "one label" in ppi_mean([1.0], [1.0], [0.0, 1.0]).describe()
    assert "unknown, not zero" in ppi_mean([1.0] * 3, [1.0] * 3, [1.0] * 2).reason
    with pytest.raises(ArgumentError, match="labels"):
        ppi_mean([], [], [1.0])
    with pytest.raises(ArgumentError, match="judge_labelled"):
        ppi_mean([1.0], [1.0, 0.0], [1.0])


@pytest.mark.parametrize("influence", [ppi_influence, post_stratified_influence])
def test_pulls_agree_with_a_numerical_jackknife(influence: object) -> None:
    assert callable(influence)
    arm, _ = _scene(3)
    n = arm.judge.size
    full = influence(arm)
    left_out = np.array(
        [
            influence(JudgedArm(np.delete(arm.labels, i), np.delete(arm.judge, i))).estimate
            for i in range(n)
        ]
    )
    jackknife = np.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum())
    assert np.sqrt(full.pulls @ full.pulls) == pytest.approx(jackknife, rel=0.08)
    assert full.pulls.sum() == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("method", [ppi_difference, post_stratified_difference])
@given(seed=st.integers(0, 500))
def test_swapping_the_arms_mirrors(method: object, seed: int) -> None:
    assert callable(method)
    baseline, candidate = _scene(seed)
    one, other = method(baseline, candidate), method(candidate, baseline)
    assert other.estimate == pytest.approx(-one.estimate, abs=1e-12)
    assert other.interval.lower == pytest.approx(-one.interval.upper, abs=1e-12)
    assert other.p.value == pytest.approx(one.p.value)


def test_each_case_its_own_cluster_changes_next_to_nothing() -> None:
    baseline, candidate = _scene(5)
    n = baseline.judge.size
    plain = ppi_difference(baseline, candidate)
    alone = ppi_difference(baseline, candidate, clusters=list(range(n)))
    assert alone.se == pytest.approx(plain.se * np.sqrt(n / (n - 1)))
    wide = ppi_difference(baseline, candidate, clusters=[k % 7 for k in range(n)])
    assert wide.clusters == 7


def test_post_stratifying_is_the_weighted_mean_of_labels() -> None:
    arm = judged_arm([1.0, 0.0, None, None, 1.0, 0.0, 0.0, None], [1, 1, 1, 1, 1, 0, 0, 0])
    assert post_stratified_influence(arm).estimate == pytest.approx(5 / 8 * 2 / 3)


def test_too_few_labels_are_refused_with_a_reason() -> None:
    baseline, candidate = _scene(1, labels=6)
    few = ppi_difference(baseline, candidate, min_labels=10)
    assert few.estimate is None
    assert "at least 10 labels" in few.describe()
    thin = post_stratified_difference(baseline, candidate)
    assert thin.estimate is None
    assert "for each verdict" in thin.describe()
    flat = judged_arm([1.0, 1.0, None], [1, 1, 1])
    assert ppi_difference(flat, flat).reason == "the labels show no spread"
    with pytest.raises(ArgumentError, match="labels"):
        post_stratified_influence(judged_arm([1.0, None], [1, 0]))


@pytest.mark.parametrize("method", [ppi_difference, post_stratified_difference])
def test_labels_that_all_agree_are_no_certainty(method: Any) -> None:
    # 1,000 cases, of which B solves one more; 20 labels an arm, which all agree with the judge.
    judge = np.array([0.0] * 500 + [1.0] * 500)
    better = judge.copy()
    better[0] = 1.0
    picked = np.arange(1_000) % 50 == 7
    arms = [judged_arm(np.where(picked, side, NAN), side) for side in (judge, better)]
    found = method(*arms)
    assert found.interval is not None
    # A judge that is wrong in 1 of 21 cases would often show 20 labels that all agree.
    assert found.interval.width / 2 > 0.05
    half = found.interval.width / 2
    wrong = [arm.labels.copy() for arm in arms]
    for labels, place in zip(wrong, np.flatnonzero(picked)[[3, 15]], strict=True):
        labels[place] = 1.0 - labels[place]
    one = method(*(judged_arm(labels, arm.judge) for labels, arm in zip(wrong, arms, strict=True)))
    assert half <= 1.1 * one.interval.width / 2


def test_labels_of_one_value_alone_have_no_interval_by_either_method() -> None:
    ones = np.ones(60)
    labels = np.where(np.arange(60) % 3 == 0, 1.0, NAN)
    arm = judged_arm(labels, ones)
    for method in (ppi_difference, post_stratified_difference):
        assert method(arm, arm).reason == "the labels show no spread", method


@pytest.mark.parametrize("method", [ppi_difference, post_stratified_difference])
def test_rare_disagreement_is_covered_though_labels_mostly_show_none(method: Any) -> None:
    draws = np.random.default_rng(4)
    n, runs, hits, told = 400, 300, 0, 0
    for _ in range(runs):
        truth = draws.integers(0, 2, (2, n)).astype(float)
        wrong = draws.random((2, n)) < np.array([[0.0], [0.03]])
        judge = np.where(wrong, 1.0 - truth, truth)
        keep = draws.random(n) < 0.1
        labels = np.where(keep, truth, NAN)
        found = method(*(judged_arm(labels[i], judge[i]) for i in (0, 1)))
        if found.interval is not None:
            told += 1
            hits += not found.interval.excludes(float(truth[1].mean() - truth[0].mean()))
    assert told > 0.9 * runs
    assert hits / told >= 0.93


def test_labels_for_all_cases_leave_nothing_unseen() -> None:
    gaps = np.zeros(20)
    assert unseen_disagreement(gaps, 0) == 0.0
    assert unseen_disagreement(gaps, 20) == pytest.approx(0.5 * (1 / 21) * (20 / 21) / 20)
    assert unseen_disagreement(np.array([0.0, 1.0]), 20) == 0.0
    assert unseen_disagreement(np.array([]), 20) == 0.0


def test_selection_by_verdict_is_noticed() -> None:
    judge = np.array([0.0, 1.0] * 60)
    picked = np.where(judge == 0.0, 1.0, NAN)
    found = selection_test(judged_arm(picked, judge))
    assert found is not None
    assert found.value < 1e-6
    fair = np.where(np.arange(120) % 4 < 2, 1.0, NAN)
    assert selection_test(judged_arm(fair, judge)).value == pytest.approx(1.0)  # type: ignore[union-attr]
    assert selection_test(judged_arm(fair, np.ones(120))) is None
    assert selection_test(judged_arm(np.ones(4), [0, 1, 0, 1])) is None
    # Pearson's chi-squared: scipy.stats.chi2_contingency([[30, 10], [40, 40]], correction=False)
    known = [1.0] * 40 + [None] * 80
    verdicts = [1] * 30 + [0] * 10 + [1] * 40 + [0] * 40
    assert selection_test(judged_arm(known, verdicts)).value == pytest.approx(  # type: ignore[union-attr]
        0.008828761, abs=1e-8
    )


def test_arguments_and_words() -> None:
    baseline, candidate = _scene(2)
    assert "The judge alone says" in ppi_difference(baseline, candidate).describe()
    assert "corrected by 4 human labels" in ppi_mean([1, 0, 1, 1], [1, 0, 0, 1], [1, 0]).describe()
    with pytest.raises(ArgumentError, match="labels"):
        judged_arm([1.0], [1.0, 0.0])
    with pytest.raises(ArgumentError, match="labels"):
        judged_arm([float("inf")], [1.0])
    with pytest.raises(ArgumentError, match="labels"):
        judged_arm(["yes"], [1.0])  # type: ignore[list-item]
    with pytest.raises(ArgumentError, match="candidate"):
        ppi_difference(baseline, judged_arm([1.0], [1.0]))


def test_labels_for_every_case_are_the_paired_t_interval() -> None:
    rng = np.random.default_rng(11)
    a, b = rng.integers(0, 2, (2, 30)).astype(float)
    found = ppi_difference(judged_arm(a, a), judged_arm(b, b))
    expected = cluster_t(b - a)
    assert (found.weight_baseline, found.weight_candidate) == (0.0, 0.0)
    assert found.estimate == pytest.approx(expected.estimate)
    assert found.se == pytest.approx(expected.se)


def test_a_judge_with_one_verdict_has_one_stratum() -> None:
    arm = judged_arm([1.0, 0.0, 1.0, None], [1, 1, 1, 1])
    assert post_stratified_influence(arm).estimate == pytest.approx(2 / 3)


@pytest.mark.parametrize("labels", [[1.0, 0.0], [1.0, 0.0, 0.0, 1.0, 1.0]])
def test_squared_pulls_are_the_unbiased_variance_of_a_plain_mean(labels: list[float]) -> None:
    expected = np.var(labels, ddof=1) / len(labels)
    arm = judged_arm(labels, [1.0] * len(labels))
    for influence in (ppi_influence(arm), post_stratified_influence(arm)):
        assert influence.pulls @ influence.pulls == pytest.approx(expected)
        assert influence.estimate == pytest.approx(np.mean(labels))


def test_both_intervals_of_a_mean_have_the_level() -> None:
    found = ppi_mean([1, 0, 1, 0], [1, 0, 1, 1], [1, 0, 0], level=0.8)
    assert found.interval_z is not None
    assert found.interval_z.level == 0.8
    assert found.n_unlabelled == 3
    assert found.judge_only == pytest.approx(4 / 7)


def test_clusters_sum_the_pulls_of_their_cases() -> None:
    baseline, candidate = _scene(6)
    labels = np.arange(baseline.judge.size) // 10
    pulls = ppi_influence(candidate).pulls - ppi_influence(baseline).pulls
    sums = np.array([pulls[labels == g].sum() for g in range(12)])
    found = ppi_difference(baseline, candidate, clusters=labels)
    assert found.se == pytest.approx(np.sqrt(12 / 11 * (sums @ sums)))
    assert found.clusters == 12
    assert found.p is not None
    assert found.p.method == "ppi++ difference"
    t = abs(found.estimate or 0.0) / (found.se or 1.0)
    assert found.p.value == pytest.approx(2 * t_sf(t, 11))
