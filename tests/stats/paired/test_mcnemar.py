import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom
from statsmodels.stats.contingency_tables import mcnemar as oracle

from fairtrial.stats.paired.mcnemar import mcnemar
from fairtrial.stats.paired.sign_flip import sign_flip


@given(st.integers(0, 300), st.integers(0, 300))
def test_exact_p_agrees_with_statsmodels(fixed: int, broken: int) -> None:
    expected = oracle([[0, broken], [fixed, 0]], exact=True).pvalue if fixed + broken else 1.0
    assert mcnemar(fixed, broken).p_exact == pytest.approx(expected, abs=1e-10)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 9))
def test_it_is_the_sign_flip_test_of_single_trials(fixed: int, broken: int, ties: int) -> None:
    ours = mcnemar(fixed, broken)
    flips = sign_flip([1.0] * fixed + [-1.0] * broken + [0.0] * (ties + 2))
    for name in ("p_mid", "p_exact", "p_mid_greater", "p_exact_greater"):
        assert getattr(flips, name) == pytest.approx(getattr(ours, name), abs=1e-11)


@given(st.integers(0, 80), st.integers(0, 80))
def test_swapping_the_arms_swaps_the_sides(fixed: int, broken: int) -> None:
    ours, mirrored = mcnemar(fixed, broken), mcnemar(broken, fixed)
    assert ours.p_mid == mirrored.p_mid
    assert ours.p_exact == mirrored.p_exact
    if fixed + broken:
        assert ours.p_mid_greater + mirrored.p_mid_greater == pytest.approx(1.0, abs=1e-12)
    assert ours.p_mid <= ours.p_exact <= 1.0


@pytest.mark.parametrize("each", [1, 3, 10, 50_000])
def test_an_even_split_takes_half_of_its_own_chance_off(each: int) -> None:
    # Fagerland, Lydersen & Laake 2013: mid-p is 1 - P(X = fixed)/2 where fixed = broken
    found = mcnemar(each, each)
    assert found.p_exact == 1.0
    assert found.p_mid == pytest.approx(1.0 - 0.5 * binom.pmf(each, 2 * each, 0.5), abs=1e-12)
    assert found.p_mid_greater == pytest.approx(0.5, abs=1e-12)


def test_nothing_changed_is_p_one() -> None:
    found = mcnemar(0, 0)
    assert (found.p_mid, found.p_exact, found.n) == (1.0, 1.0, 0)
    assert "nothing to test" in found.describe()
    assert "5 fixed against 0 broken" in mcnemar(5, 0).describe()
