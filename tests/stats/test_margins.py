import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as oracle
from statsmodels.stats.weightstats import ttost_paired

from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.interval import Interval
from fairtrial.stats.noninferiority import margin_test, non_inferiority_t


@given(st.integers(0, 10_000), st.floats(0.01, 0.5))
def test_t_tests_agree_with_statsmodels(seed: int, margin: float) -> None:
    rng = np.random.default_rng(seed)
    d = rng.normal(0.02, 0.2, int(rng.integers(4, 40)))
    found = non_inferiority_t(d, margin)
    both, lower, upper = ttost_paired(d, np.zeros_like(d), -margin, margin)
    assert found.p_equivalent == pytest.approx(both, abs=1e-9)
    assert found.p_non_inferior == pytest.approx(lower[1], abs=1e-9)
    assert max(lower[1], upper[1]) == pytest.approx(both)
    greater = oracle.ttest_1samp(d, -margin, alternative="greater").pvalue
    assert found.non_inferior == (greater < 0.025)


def test_an_interval_against_a_margin() -> None:
    inside = margin_test(Interval("t", 0.95, -0.01, 0.015), 9, 0.02)
    assert (inside.non_inferior, inside.equivalent) == (True, True)
    assert (inside.method, inside.level, inside.n) == ("t", 0.95, 9)
    better = margin_test(Interval("t", 0.95, -0.01, 0.3), 9, 0.02)
    assert (better.non_inferior, better.equivalent) == (True, False)
    at_the_margin = margin_test(Interval("t", 0.95, -0.02, 0.01), 9, 0.02)
    assert (at_the_margin.non_inferior, at_the_margin.equivalent) == (False, False)
    assert "same within 0.02" in inside.describe()
    assert "not worse by 0.02" in better.describe()
    assert "cannot be ruled out" in at_the_margin.describe()


def test_without_an_interval_nothing_is_said() -> None:
    found = margin_test(None, 0, 0.1)
    assert found.non_inferior is None
    assert "there is no interval" in found.describe()
    assert non_inferiority_t([0.1], 0.1).reason == "one case has no spread"
    with pytest.raises(ArgumentError, match="margin"):
        margin_test(None, 0, 0.0)
