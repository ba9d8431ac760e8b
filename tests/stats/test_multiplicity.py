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


def test_groups_without_spread() -> None:
    assert "no spread" in dunnett([1.0], {"b": [2.0]}).describe()
    assert dunnett([1.0, 1.0], {"b": [2.0, 2.0]}).p == {}
    with pytest.raises(ArgumentError, match="groups"):
        dunnett([1.0], {})
