"""One case's own trials, against scipy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.paired.fisher import fisher_mid_p

COUNTS = st.integers(1, 12).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(COUNTS, COUNTS)
def test_it_is_the_mid_p_of_the_hypergeometric(a: tuple[int, int], b: tuple[int, int]) -> None:
    (k_a, n_a), (k_b, n_b) = a, b
    # scipy.stats.hypergeom(M=all trials, n=all passes, N=B's trials)
    law = hypergeom(n_a + n_b, k_a + k_b, n_b)
    half = 0.5 * law.pmf(k_b)
    expected = min(1.0, 2 * min(law.sf(k_b) + half, law.cdf(k_b - 1) + half))
    assert fisher_mid_p(k_a, n_a, k_b, n_b) == pytest.approx(expected, abs=1e-12)
    assert fisher_mid_p(k_b, n_b, k_a, n_a) == pytest.approx(expected, abs=1e-12)


def test_known_values() -> None:
    assert fisher_mid_p(0, 3, 3, 3) == pytest.approx(0.05)
    assert fisher_mid_p(1, 3, 3, 3) == pytest.approx(0.2)
    assert fisher_mid_p(1, 1, 1, 1) == 1.0
    assert fisher_mid_p(0, 0, 0, 0) == 1.0


@pytest.mark.parametrize("counts", [(2, 1, 0, 1), (0, 1, 2, 1), (-1, 1, 0, 1)])
def test_counts_must_fit(counts: tuple[int, int, int, int]) -> None:
    with pytest.raises(ArgumentError):
        fisher_mid_p(*counts)
