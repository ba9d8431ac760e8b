import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairtrial.analysis.cases import PairedCases, paired_scores, paired_trials
from fairtrial.analysis.paired import Ci, extra_columns, paired
from fairtrial.model.delta import Direction
from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.paired.bootstrap import bootstrap_mean
from fairtrial.stats.paired.constant import constant_interval
from fairtrial.stats.paired.counts import PairedCounts
from fairtrial.stats.paired.mcnemar import mcnemar
from fairtrial.stats.paired.newcombe import newcombe
from fairtrial.stats.paired.sign_flip import sign_flip
from fairtrial.stats.paired.student import cluster_t, guarded_t
from fairtrial.stats.paired.tango import tango
from fairtrial.stats.trials import from_counts


def _single(both: int, fixed: int, broken: int, neither: int) -> PairedCases:
    a = [1] * both + [0] * fixed + [1] * broken + [0] * neither
    b = [1] * both + [1] * fixed + [0] * broken + [0] * neither
    ones = [1] * len(a)
    return paired_trials(from_counts(a, ones), from_counts(b, ones))


def _several(seed: int = 1, n: int = 30, clusters: object = None) -> PairedCases:
    rng = np.random.default_rng(seed)
    three = np.full(n, 3)
    return paired_trials(
        from_counts(rng.integers(0, 3, n), three),
        from_counts(rng.integers(1, 4, n), three),
        clusters=clusters,  # type: ignore[arg-type]
    )


def test_single_trials_get_tango_and_mcnemar() -> None:
    found = paired(_single(59, 16, 6, 80))
    counts = PairedCounts(59, 16, 6, 80)
    assert found.counts == counts
    assert found.interval == tango(counts).interval
    assert found.p is not None
    assert found.p.value == mcnemar(16, 6).p_mid
    assert found.difference.p_exact is not None
    assert found.difference.p_exact.value == mcnemar(16, 6).p_exact
    assert found.verdict is Direction.BETTER
    assert found.difference.method == "tango"
    assert "one trial an arm" in found.describe()


def test_several_trials_get_the_guarded_t_and_the_sign_flip() -> None:
    cases = _several()
    found = paired(cases)
    expected = guarded_t(cases.d, trials=3).interval
    assert expected is not None
    assert found.interval == expected.clipped(-1.0, 1.0)
    assert found.p is not None
    assert found.p.value == sign_flip(cases.d).p_mid
    assert found.counts is None
    assert "several trials" in found.difference.reason


def test_clusters_get_the_guarded_t_over_clusters_and_a_warning_when_few() -> None:
    labels = [f"repo-{k % 5}" for k in range(30)]
    found = paired(_several(clusters=labels))
    assert found.difference.clusters == 5
    assert "clusters" in found.difference.reason
    assert "only 5 clusters" in found.describe()
    single = paired_trials(
        from_counts([0, 1] * 10, [1] * 20),
        from_counts([1] * 20, [1] * 20),
        clusters=[k // 2 for k in range(20)],
    )
    assert paired(single).difference.method == "guarded t"
    assert paired(single).warnings == ()


def test_graded_scores_get_t() -> None:
    rng = np.random.default_rng(4)
    a, b = rng.random(40), rng.random(40)
    found = paired(paired_scores(a, b), level=0.9)
    assert found.interval == cluster_t(b - a, level=0.9).interval
    assert found.difference.reason == "scores are graded"
    assert found.difference.seed == 0
    assert paired(paired_scores(a, b), seed=7).difference.seed == 7


def test_equal_graded_differences_get_a_bound_when_bounded_and_nothing_when_not() -> None:
    bounded = paired(paired_scores([0.5] * 20, [0.5] * 20))
    assert bounded.interval == constant_interval(0.0, 20)
    assert bounded.difference.method == "rule of three"
    free = paired(paired_scores([5.0] * 20, [7.0] * 20, score_range=None))
    assert free.interval is None
    assert "unknown, not zero" in free.describe()
    assert free.verdict is Direction.INCONCLUSIVE


def test_asking_for_an_interval() -> None:
    cases = _single(9, 5, 2, 9)
    asked = paired(cases, ci="newcombe")
    assert asked.interval == newcombe(PairedCounts(9, 5, 2, 9)).interval
    assert asked.difference.reason == "it was asked for"
    assert paired(cases, ci="tango").interval == paired(cases).interval
    assert paired(cases, ci="t").interval == cluster_t(cases.d).interval
    assert paired(cases, ci="guarded-t").difference.method == "guarded t"
    boot = paired(cases, ci="bootstrap")
    assert boot.interval == bootstrap_mean(cases.d).interval

    assert "(exact)" in boot.difference.reason
    with pytest.raises(ArgumentError, match=r"^ci: tango"):
        paired(_several(), ci="tango")
    with pytest.raises(ArgumentError, match="no known interval"):
        paired(cases, ci="wald")  # type: ignore[arg-type]


@pytest.mark.parametrize("ci", ["t", "bootstrap"])
def test_equal_differences_are_no_certainty(ci: Ci) -> None:
    for a, b in ((1, 1), (0, 1)):
        cases = paired_trials(from_counts([a] * 30, [1] * 30), from_counts([b] * 30, [1] * 30))
        found = paired(cases, ci=ci)
        assert found.interval is None
        assert found.verdict is Direction.INCONCLUSIVE
        assert "spread is unknown, not zero" in found.difference.reason


def test_a_verdict_needs_interval_and_test() -> None:
    # the interval excludes 0, the exact test of the same table does not reach .05
    cases = _single(0, 5, 0, 15)
    found = paired(cases)
    assert found.interval is not None
    assert found.interval.excludes(0.0)
    assert found.verdict is Direction.BETTER
    stricter = paired(cases, level=0.97)
    assert stricter.p is not None
    assert stricter.p.value > 0.03
    assert stricter.verdict is Direction.INCONCLUSIVE


def test_nothing_and_one_case_are_inconclusive() -> None:
    nothing = paired(paired_scores([], []))
    assert nothing.verdict is Direction.INCONCLUSIVE
    assert nothing.difference.estimate is None
    assert nothing.interval is None
    assert nothing.p is None
    assert paired(_single(0, 1, 0, 0)).verdict is Direction.INCONCLUSIVE
    assert paired(paired_scores([0.0], [1.0])).verdict is Direction.INCONCLUSIVE


@given(st.tuples(*[st.integers(0, 25)] * 4).filter(any))
def test_swapping_the_arms_swaps_the_verdict(cells: tuple[int, int, int, int]) -> None:
    both, fixed, broken, neither = cells
    one, other = paired(_single(*cells)), paired(_single(both, broken, fixed, neither))
    swap = {
        Direction.BETTER: Direction.WORSE,
        Direction.WORSE: Direction.BETTER,
        Direction.INCONCLUSIVE: Direction.INCONCLUSIVE,
    }
    assert other.verdict is swap[one.verdict]


def test_twenty_ties_leave_a_wide_interval() -> None:
    interval = paired(_single(20, 0, 0, 0)).interval
    assert interval is not None
    assert interval.lower == pytest.approx(-0.161125, abs=1e-6)


def test_a_verdict_in_words() -> None:
    assert paired(_single(0, 0, 9, 3)).describe().startswith("Worse")
    assert paired(_single(5, 1, 1, 3)).describe().startswith("Inconclusive")


def test_extra_columns() -> None:
    columns = extra_columns(_several())
    assert columns["t"].method == "paired t"
    assert columns["wilcoxon"].method == "hodges-lehmann"


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: paired_trials(from_counts([1], [1]), from_counts([], [])), "candidate"),
        (lambda: paired_scores([1.0], [1.0, 0.0]), "candidate"),
        (lambda: paired_scores([1.0], [1.0], clusters=[1, 2]), "clusters"),
        (lambda: paired(_several(), level=1.0), "level"),
    ],
)
def test_bad_arguments_are_named(call: object, argument: str) -> None:
    assert callable(call)
    with pytest.raises(ArgumentError, match=f"^{argument}: "):
        call()
