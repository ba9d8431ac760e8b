import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as oracle
from statsmodels.stats.multitest import multipletests

from fairtrial.stats.dunnett import dunnett
from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.multiplicity import benjamini_hochberg, bonferroni_level, holm

many = st.lists(st.floats(0, 1), min_size=1, max_size=20)


@pytest.mark.parametrize("m", [1, 2, 7, 20])
def test_adjustments_agree_with_statsmodels(m: int) -> None:
    p = np.random.default_rng(m).random(m).round(2)
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1])
    assert benjamini_hochberg(p) == pytest.approx(multipletests(p, method="fdr_bh")[1])


@given(many)
def test_adjusting_never_lowers_and_keeps_the_order(p: list[float]) -> None:
    for adjusted in (holm(p), benjamini_hochberg(p)):
        assert (adjusted >= np.array(p) - 1e-15).all()
        assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= -1e-15).all()
    assert (holm(p) >= benjamini_hochberg(p) - 1e-15).all()


def test_nothing_to_adjust() -> None:
    assert holm([]).size == 0
    assert bonferroni_level(0.95, 5) == pytest.approx(0.99)
    with pytest.raises(ArgumentError, match="p: "):
        holm([1.1])
    with pytest.raises(ArgumentError, match="p: "):
        benjamini_hochberg([-0.1])
    with pytest.raises(ArgumentError, match="comparisons"):
        bonferroni_level(0.95, 0)


@pytest.mark.parametrize("sizes", [(6, 6, 6, 6), (4, 9, 3), (12, 5)])
def test_dunnett_agrees_with_scipy(sizes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(17)
    control, *groups = [rng.normal(0.5 * k, 1.0, size) for k, size in enumerate(sizes)]
    found = dunnett(control, {str(k): g for k, g in enumerate(groups)})
    theirs = oracle.dunnett(*groups, control=control, rng=np.random.default_rng(1))
    assert list(found.t.values()) == pytest.approx(list(theirs.statistic), abs=1e-10)
    assert list(found.p.values()) == pytest.approx(list(theirs.pvalue), abs=5e-4)
    assert found.df == sum(sizes) - len(sizes)
    assert "Dunnett" in found.describe()


def test_one_group_is_the_two_sample_t_test() -> None:
    a, b = [7.4, 8.5, 7.2, 8.2], [9.8, 8.8, 9.4]
    expected = oracle.ttest_ind(b, a).pvalue
    assert dunnett(a, {"b": b}).p["b"] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("sizes", [(3, 1000), (2, 50), (5, 200), (3, 100_000), (1000, 3), (1, 2)])
@pytest.mark.parametrize("shift", [0.5, 1.0, 3.0])
def test_a_small_control_beside_a_large_group(sizes: tuple[int, int], shift: float) -> None:
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=sizes[0]), rng.normal(shift, 1.0, sizes[1])
    expected = oracle.ttest_ind(b, a).pvalue
    assert dunnett(a, {"b": b}).p["b"] == pytest.approx(expected, rel=1e-5)


def test_a_far_tail_keeps_its_digits() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=30), rng.normal(2.4, 1.0, 30)
    alone = dunnett(a, {"b": b}).p["b"]
    assert alone < 1e-9
    assert alone == pytest.approx(oracle.ttest_ind(b, a).pvalue, rel=1e-6)
    found = dunnett(a, {"b": b, "same": b})
    single = 2.0 * oracle.t.sf(abs(found.t["b"]), found.df)
    assert single < found.p["b"] == found.p["same"] < 2.0 * single


def test_groups_without_spread() -> None:
    assert "no spread" in dunnett([1.0], {"b": [2.0]}).describe()
    assert dunnett([1.0, 1.0], {"b": [2.0, 2.0]}).p == {}
    with pytest.raises(ArgumentError, match="groups"):
        dunnett([1.0], {})
