import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as oracle
from statsmodels.api import OLS

from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.paired.constant import constant_interval
from fairtrial.stats.paired.student import cluster_t, guarded_t

values = st.lists(st.floats(-1, 1).map(lambda x: round(x, 6)), min_size=3, max_size=40).filter(
    lambda v: len(set(v)) > 1
)


@given(values, st.floats(0.5, 0.999))
def test_paired_t_agrees_with_scipy(d: list[float], level: float) -> None:
    ours = cluster_t(d, level=level)
    test = oracle.ttest_1samp(d, 0.0)
    low, high = test.confidence_interval(level)
    assert ours.interval is not None
    assert ours.p is not None
    assert ours.p_greater is not None
    assert ours.interval.lower == pytest.approx(low, abs=1e-8)
    assert ours.interval.upper == pytest.approx(high, abs=1e-8)
    assert ours.p.value == pytest.approx(test.pvalue, abs=1e-8)
    greater = oracle.ttest_1samp(d, 0.0, alternative="greater").pvalue
    assert ours.p_greater.value == pytest.approx(greater, abs=1e-8)


def test_cluster_se_agrees_with_statsmodels() -> None:
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 9, 60)
    d = rng.normal(size=60) + 0.3 * labels
    groups = np.unique(labels).size
    fit = OLS(d, np.ones(60)).fit(
        cov_type="cluster", cov_kwds={"groups": labels, "use_correction": False}
    )
    expected = float(fit.bse[0]) * math.sqrt(groups / (groups - 1))
    assert cluster_t(d, clusters=labels).se == pytest.approx(expected, rel=1e-10)


@given(values, st.randoms())
def test_order_and_names_of_clusters_do_not_matter(d: list[float], random: object) -> None:
    labels = [k % 3 for k in range(len(d))]
    order = list(range(len(d)))
    random.shuffle(order)  # type: ignore[attr-defined]
    first = guarded_t(d, trials=3, clusters=labels)
    second = guarded_t(
        [d[k] for k in order], trials=3, clusters=[f"repo-{labels[k]}" for k in order]
    )
    assert first.interval is not None
    assert second.interval is not None
    assert second.interval.lower == pytest.approx(first.interval.lower, abs=1e-9)
    assert second.interval.upper == pytest.approx(first.interval.upper, abs=1e-9)


@given(values)
def test_each_case_its_own_cluster_changes_nothing(d: list[float]) -> None:
    alone = list(range(len(d)))
    for plain, clustered in (
        (cluster_t(d), cluster_t(d, clusters=alone)),
        (guarded_t(d, trials=2), guarded_t(d, trials=2, clusters=alone)),
    ):
        assert plain.se == pytest.approx(clustered.se, abs=1e-12)
        assert plain.clusters == clustered.clusters == len(d)


@given(values)
def test_swapping_the_arms_mirrors(d: list[float]) -> None:
    for one, other in (
        (cluster_t(d), cluster_t([-x for x in d])),
        (guarded_t(d, trials=3), guarded_t([-x for x in d], trials=3)),
    ):
        assert one.interval is not None
        assert other.interval is not None
        assert other.interval.lower == pytest.approx(-one.interval.upper, abs=1e-12)


def test_the_guard_is_two_pseudo_cases() -> None:
    d, k = [0.5, 0.0, -0.25, 1.0], 4
    padded = np.array([*d, 1 / math.sqrt(k), -1 / math.sqrt(k)])
    mean = padded.sum() / 6
    se = math.sqrt(4 / 3 * ((padded - mean) ** 2).sum()) / 6
    found = guarded_t(d, trials=k)
    assert found.centre == pytest.approx(mean)
    assert found.se == pytest.approx(se)
    assert found.estimate == pytest.approx(np.mean(d))


@pytest.mark.parametrize("method", [lambda d, **k: guarded_t(d, trials=1, **k), cluster_t])
def test_too_little_is_none_with_a_reason(method: object) -> None:
    assert callable(method)
    nothing, one = method([]), method([0.5])
    assert nothing.estimate is None
    assert nothing.describe() == "No difference can be given: there are no cases."
    assert one.interval is None
    assert "one case has no spread" in one.describe()
    assert method([0.5, 0.7], clusters=[4, 4]).reason == "one cluster has no spread"


def test_no_spread_is_unknown_not_zero() -> None:
    for value in (0.25, 0.1):
        found = cluster_t([value] * 100)
        assert found.interval is None
        assert found.se is None
        assert found.reason == "all differences are equal, so their spread is unknown, not zero"
    late = cluster_t([0.25] * 99 + [0.5])
    assert late.interval is not None
    early = cluster_t([0.5] + [0.25] * 99)
    assert early.interval is not None
    balanced = cluster_t([1.0, -1.0, 1.0, -1.0], clusters=[0, 0, 1, 1])
    assert balanced.interval is None
    assert "same mean" in balanced.reason


def test_rule_of_three() -> None:
    interval = constant_interval(0.0, 20)
    assert interval.upper == pytest.approx(1 - 0.025 ** (1 / 20))
    assert interval.lower == -interval.upper
    assert constant_interval(0.0, 20, score_range=2.0).width == pytest.approx(2 * interval.width)
    assert constant_interval(1.0, 2).upper == 1.0
    assert constant_interval(0.0, 40).width < interval.width
    with pytest.raises(ArgumentError, match="score_range"):
        constant_interval(0.0, 3, score_range=0.0)
    with pytest.raises(ArgumentError, match="trials"):
        guarded_t([0.0, 1.0], trials=0)


def test_words_name_cases_clusters_and_chance() -> None:
    text = cluster_t([0.1, 0.2, 0.4, 0.5], clusters=[0, 0, 1, 1]).describe()
    assert "4 cases in 2 clusters" in text
    assert "+0.3" in text
    assert "cluster t" in text
