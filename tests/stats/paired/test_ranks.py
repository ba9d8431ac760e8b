import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as oracle

from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.log_ratio import paired_change
from fairtrial.stats.paired.hodges_lehmann import hodges_lehmann
from fairtrial.stats.paired.wilcoxon import midranks, signed_rank_quantile, wilcoxon


@given(st.lists(st.integers(1, 400), min_size=1, max_size=30, unique=True), st.data())
def test_exact_p_agrees_with_scipy_where_nothing_ties(
    sizes: list[int], data: st.DataObject
) -> None:
    signs = data.draw(st.lists(st.sampled_from([-1, 1]), min_size=len(sizes), max_size=len(sizes)))
    d = [float(a * b) for a, b in zip(sizes, signs, strict=True)]
    ours = wilcoxon(d)
    assert ours.p == pytest.approx(oracle.wilcoxon(d, method="exact").pvalue, abs=1e-10)
    greater = oracle.wilcoxon(d, method="exact", alternative="greater").pvalue
    assert ours.p_greater == pytest.approx(greater, abs=1e-10)


@settings(max_examples=25)
@given(st.lists(st.integers(-4, 4), min_size=2, max_size=10))
def test_ties_agree_with_scipys_permutation_of_midranks(steps: list[int]) -> None:
    d = [float(s) for s in steps if s]
    if len(d) < 2:
        return
    theirs = oracle.wilcoxon(d, method=oracle.PermutationMethod(n_resamples=np.inf)).pvalue
    assert wilcoxon(d).p == pytest.approx(theirs, abs=1e-10)


def test_many_differences_use_the_saddlepoint() -> None:
    d = np.random.default_rng(3).normal(0.05, 1.0, 900)
    ours, theirs = wilcoxon(d), oracle.wilcoxon(d, method="approx")
    assert ours.method == "saddlepoint"
    assert ours.p == pytest.approx(theirs.pvalue, abs=2e-3)
    assert ours.p_greater == pytest.approx(ours.p / 2)
    assert wilcoxon(-d).p_greater == pytest.approx(1 - ours.p / 2)


def test_pratt_ranks_zeros_and_dropping_does_not() -> None:
    d = [0, 0, 3, 5, -1, 2, 4, 0, 6]
    assert wilcoxon(d).statistic == 20.0
    assert wilcoxon(d, zeros="pratt").statistic == 35.0
    assert wilcoxon(d).zeros == 3
    with pytest.raises(ArgumentError, match="zeros"):
        wilcoxon(d, zeros="split")  # type: ignore[arg-type]


def test_midranks_are_scipys() -> None:
    sizes = np.array([2.0, 1.0, 2.0, 5.0, 1.0, 1.0])
    assert midranks(sizes).tolist() == oracle.rankdata(sizes).tolist()


@pytest.mark.parametrize(("p", "n", "expected"), [(0.025, 6, 1), (0.025, 10, 9), (0.025, 20, 53)])
def test_signed_rank_quantiles_of_r(p: float, n: int, expected: int) -> None:
    # R: qsignrank(0.025, c(6, 10, 20)) gives 1, 9, 53
    assert signed_rank_quantile(p, n) == expected


def test_the_normal_quantile_continues_the_exact_one() -> None:
    exact, following = signed_rank_quantile(0.025, 500), signed_rank_quantile(0.025, 501)
    assert 0 < following - exact < 260


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=40))
def test_hodges_lehmann_by_definition(d: list[int]) -> None:
    averages = sorted((a + b) / 2 for k, a in enumerate(d) for b in d[k:])
    found = hodges_lehmann(d)
    assert found.estimate == pytest.approx(float(np.median(averages)))
    assert found.interval is not None
    assert found.interval.lower in averages
    k = max(1, signed_rank_quantile(0.025, len(d)))
    assert found.interval.lower == averages[k - 1]
    assert found.interval.upper == averages[-k]


def test_counting_averages_agrees_with_listing_them() -> None:
    d = np.round(np.random.default_rng(12).normal(size=1800), 2)
    rows, columns = np.triu_indices(d.size)
    averages = np.sort((d[rows] + d[columns]) / 2)
    found = hodges_lehmann(d)
    k = signed_rank_quantile(0.025, d.size)
    assert found.interval is not None
    assert found.estimate == pytest.approx(float(np.median(averages)), abs=1e-12)
    assert found.interval.lower == pytest.approx(averages[k - 1], abs=1e-12)
    assert found.interval.upper == pytest.approx(averages[-k], abs=1e-12)


def test_many_equal_values_are_their_own_median() -> None:
    found = hodges_lehmann([2.0] * 2000)
    assert found.estimate == 2.0
    assert found.interval is not None
    assert (found.interval.lower, found.interval.upper) == (2.0, 2.0)


def test_nothing_to_rank() -> None:
    assert hodges_lehmann([]).estimate is None
    assert wilcoxon([0.0, 0.0]).p == 1.0
    assert wilcoxon([0.0, 0.0]).zeros == 2
    assert "fewer than 6" in wilcoxon([1.0, 2.0]).reason
    assert hodges_lehmann([0.0, 0.0, 1.0], drop_zeros=True).n == 1
    assert "lean to one side" in wilcoxon([1.0, 2.0]).describe()


def test_ratios_and_differences() -> None:
    a, b = [1.0, 2.0, 4.0, 8.0, 3.0, 5.0], [1.1, 2.2, 4.4, 8.8, 3.3, 5.5]
    found = paired_change(a, b)
    assert found.scale == "ratio"
    assert found.estimate == pytest.approx(1.1)
    assert "+10.00 %" in found.describe()
    inverse = paired_change(b, a)
    assert inverse.estimate == pytest.approx(1 / 1.1)
    shifted = paired_change([0.0, *a], [1.0, *b])
    assert shifted.scale == "difference"
    assert "no ratio" in shifted.reason
    assert "against A over 7 pairs" in shifted.describe()
    assert "no verdict" in paired_change([1.0], [2.0]).reason
    assert paired_change([], []).describe() == "No change can be given: there are no pairs."
    with pytest.raises(ArgumentError, match="b: "):
        paired_change([1.0], [1.0, 2.0])


def test_a_zero_in_either_arm_turns_the_ratio_into_a_difference() -> None:
    values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    found = paired_change(values, [0.0, *values[1:]])
    assert found.scale == "difference"
    assert found.estimate == hodges_lehmann(np.array([0.0, *values[1:]]) - values).estimate
    assert paired_change([0.0, *values[1:]], values).scale == "difference"


def test_six_pairs_are_enough_for_a_verdict_and_five_are_not() -> None:
    six = paired_change([1.0] * 6, [1.1, 1.2, 1.3, 1.4, 1.5, 1.6])
    assert six.reason == ""
    assert six.clusters == 6
    assert "fewer than 6 pairs" in paired_change([1.0] * 5, [1.1, 1.2, 1.3, 1.4, 1.5]).reason
    empty = paired_change([], [])
    assert (empty.scale, empty.n, empty.clusters) == ("difference", 0, 0)
