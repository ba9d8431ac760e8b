"""What every result carries: method, sizes, level and seed, defined or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fairtrial.stats.adaptive import adaptive_suite
from fairtrial.stats.agreement.confusion import confusion
from fairtrial.stats.agreement.kappa import (
    cohen_kappa,
    cohen_kappa_of_table,
    fleiss_kappa,
    krippendorff_alpha,
)
from fairtrial.stats.clustered_rate import clustered_rate
from fairtrial.stats.log_ratio import paired_change
from fairtrial.stats.noninferiority import non_inferiority_t
from fairtrial.stats.paired.bonett_price import bonett_price
from fairtrial.stats.paired.bootstrap import bootstrap_mean
from fairtrial.stats.paired.constant import constant_interval
from fairtrial.stats.paired.counts import PairedCounts
from fairtrial.stats.paired.hodges_lehmann import hodges_lehmann
from fairtrial.stats.paired.newcombe import newcombe
from fairtrial.stats.paired.student import cluster_t, guarded_t
from fairtrial.stats.paired.tango import tango
from fairtrial.stats.pairwise import pairwise
from fairtrial.stats.passk import pass_metrics, seq_at_k
from fairtrial.stats.ppi.difference import judged_arm, ppi_difference
from fairtrial.stats.ppi.mean import ppi_mean
from fairtrial.stats.ppi.poststratified import post_stratified_difference
from fairtrial.stats.proportion import clopper_pearson, pass_rate, wilson
from fairtrial.stats.sequential.inference import sequential_inference
from fairtrial.stats.trials import from_counts

RNG = np.random.default_rng(99)
D = RNG.normal(0.1, 0.5, 24)
THIRDS = RNG.integers(-3, 4, 24) / 3
LABELS = [k // 3 for k in range(24)]
COUNTS = PairedCounts(9, 8, 3, 4)
ARM = judged_arm(
    np.where(np.arange(40) % 2, RNG.integers(0, 2, 40), np.nan), np.arange(40) % 3 != 0
)
OTHER = judged_arm(
    np.where(np.arange(40) % 2, RNG.integers(0, 2, 40), np.nan), np.arange(40) % 6 > 1
)
RATES = from_counts(RNG.integers(0, 4, 24), [3] * 24)
RATINGS = [[1, 0, 1, 1, 0, 0], [1, 0, 0, 1, 0, 1]]

Call = Callable[[float], Any]

WITH_INTERVAL: dict[str, tuple[Call, int]] = {
    "cluster t": (lambda level: cluster_t(D, clusters=LABELS, level=level), 24),
    "paired t": (lambda level: cluster_t(D, level=level), 24),
    "guarded t": (lambda level: guarded_t(THIRDS, trials=3, level=level), 24),
    "tango": (lambda level: tango(COUNTS, level), 24),
    "newcombe": (lambda level: newcombe(COUNTS, level), 24),
    "bonett-price": (lambda level: bonett_price(COUNTS, level), 24),
    "exact": (lambda level: bootstrap_mean(THIRDS, level=level), 24),
    "resampling": (lambda level: bootstrap_mean(D, level=level, draws=500), 24),
    "hodges-lehmann": (lambda level: hodges_lehmann(D, level=level), 24),
    "log-ratio hodges-lehmann": (
        lambda level: paired_change(np.exp(D), np.exp(2 * D), level=level),
        24,
    ),
    "difference": (lambda level: paired_change(D, 2 * D, level=level), 24),
    "ppi++": (lambda level: ppi_mean([1, 0, 1, 0], [1, 0, 1, 1], [1, 0, 0], level=level), 4),
    "ppi++ difference": (lambda level: ppi_difference(ARM, OTHER, level=level), 40),
    "post-stratified difference": (
        lambda level: post_stratified_difference(ARM, OTHER, level=level),
        40,
    ),
    "cohen kappa": (lambda level: cohen_kappa(*RATINGS, level=level), 6),
    "non-inferiority": (lambda level: non_inferiority_t(D, 0.2, level=level), 24),
    "pass@2": (lambda level: pass_metrics([(3, 1), (3, 2), (3, 0)], [2], level=level).at[2], 3),
    "pass^2": (lambda level: pass_metrics([(3, 3), (3, 2), (3, 0)], [2], level=level).hat[2], 3),
    "seq@2": (lambda level: seq_at_k([[0, 1], [1], [0]], 2, level=level)[1], 3),
    "adaptive": (lambda level: adaptive_suite([[1, 1], [0, 0], [1, 0, 1]], level=level), 3),
}

UNDEFINED: dict[str, tuple[Call, int]] = {
    "cluster t": (lambda level: cluster_t([], clusters=[], level=level), 0),
    "paired t": (lambda level: cluster_t([0.5], level=level), 1),
    "guarded t": (lambda level: guarded_t([], trials=1, level=level), 0),
    "bootstrap": (lambda level: bootstrap_mean([], level=level), 0),
    "hodges-lehmann": (lambda level: hodges_lehmann([], level=level), 0),
    "log-ratio": (lambda level: paired_change([], [], level=level), 0),
    "ppi++": (lambda level: ppi_mean([1.0], [1.0], [0.0, 1.0], level=level), 1),
    "ppi++ difference": (
        lambda level: ppi_difference(ARM, OTHER, min_labels=99, level=level),
        40,
    ),
    "post-stratified difference": (
        lambda level: post_stratified_difference(ARM, OTHER, min_per_stratum=99, level=level),
        40,
    ),
    "cohen kappa": (lambda level: cohen_kappa([1, 1], [1, 1], level=level), 2),
    "cohen kappa of nothing": (lambda level: cohen_kappa([], [], level=level), 0),
    "cohen table": (lambda level: cohen_kappa_of_table([[0.0]], level=level), 0),
    "fleiss kappa": (lambda level: fleiss_kappa([[2, 0], [2, 0]], level=level), 2),
    "fleiss of nothing": (lambda level: fleiss_kappa(np.zeros((0, 2)), level=level), 0),
    "krippendorff alpha": (lambda level: krippendorff_alpha([[1, 1]] * 2, level=level), 2),
    "krippendorff of nothing": (lambda level: krippendorff_alpha([[1]], level=level), 0),
    "pass@5": (lambda level: pass_metrics([(3, 1)], [5], level=level).at[5], 0),
    "seq@1": (lambda level: seq_at_k([], 1, level=level)[0], 0),
    "adaptive": (lambda level: adaptive_suite([], level=level), 0),
}


@pytest.mark.parametrize("name", WITH_INTERVAL)
def test_a_result_carries_what_it_was_made_with(name: str) -> None:
    call, n = WITH_INTERVAL[name]
    low, high = call(0.8), call(0.99)
    for found, level in ((low, 0.8), (high, 0.99)):
        assert found.level == level
        assert found.interval.level == level
        assert found.n == n
        assert found.method
        assert isinstance(found.interval.method, str)
        assert isinstance(found.describe(), str)
    assert low.interval.width < high.interval.width
    assert type(low).__dataclass_params__.frozen


@pytest.mark.parametrize("name", UNDEFINED)
def test_what_is_undefined_is_none_with_a_reason(name: str) -> None:
    call, n = UNDEFINED[name]
    found = call(0.8)
    assert found.interval is None
    assert found.level == 0.8
    assert found.n == n
    assert isinstance(found.method, str)
    assert len(found.reason) > 10
    assert found.reason == found.reason.strip(". ")
    assert found.reason[0].islower()
    assert isinstance(found.describe(), str)


@pytest.mark.parametrize(
    "interval",
    [
        lambda level: wilson(3, 9, level),
        lambda level: clopper_pearson(3, 9, level),
        lambda level: pass_rate({(1, 1): 3, (0, 1): 6}, level).interval,
        lambda level: pass_rate({(1, 3): 3, (2, 3): 6, (0, 3): 2}, level).interval,
        lambda level: pass_rate({(3, 3): 30, (2, 3): 1}, level).interval,
        lambda level: pass_rate({(3, 3): 30}, level).interval,
        lambda level: clustered_rate(RATES, LABELS, level=level).interval,
        lambda level: constant_interval(0.0, 9, level=level),
        lambda level: confusion([1, 0, 1], [1, 1, 0], level=level).tpr_interval,
        lambda level: pairwise([("b", "b"), ("a", "a")], level=level).net.interval,
        lambda level: pairwise([("b", "a"), ("a", "b")], level=level).position.interval,
        lambda level: sequential_inference([9.0], [2.0], 1, 1.0, level).interval,
    ],
)
def test_intervals_have_their_level(interval: Call) -> None:
    low, high = interval(0.8), interval(0.99)
    assert (low.level, high.level) == (0.8, 0.99)
    assert low.width < high.width
    assert isinstance(low.method, str)


def test_sizes_of_undefined_differences() -> None:
    found = ppi_difference(ARM, OTHER, min_labels=99)
    assert (found.labels_baseline, found.labels_candidate, found.clusters) == (20, 20, 40)
    post = post_stratified_difference(ARM, OTHER, min_per_stratum=99)
    assert (post.labels_baseline, post.labels_candidate, post.clusters) == (20, 20, 40)
    assert post.judge_only == found.judge_only == float((OTHER.judge - ARM.judge).mean())
    assert krippendorff_alpha([[1], [None]]).raters == 2
    assert cohen_kappa([], []).raters == 2
    assert fleiss_kappa([[3, 0], [3, 0]]).raters == 3
