import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as oracle

from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.gate.cross_fitted import (
    cross_fitted_gain,
    excess_break_share,
    majority_solved,
    net_gain_per_case,
)
from fairtrial.stats.gate.net_gain import break_share, fewest_fixes, net_gain
from fairtrial.stats.paired.mcnemar import mcnemar
from fairtrial.stats.trials import TrialSums, from_counts, from_scores

arms = st.lists(
    st.tuples(*[st.lists(st.integers(0, 1), min_size=3, max_size=3)] * 2), min_size=2, max_size=15
)


def _sums(rows: list[list[int]]) -> TrialSums:
    return from_scores("rows", [[float(v) for v in row] for row in rows])


@given(st.integers(0, 200), st.integers(0, 200), st.sampled_from([1.0, 2.0, 3.0, 0.5]))
def test_net_gain_agrees_with_scipy(fixed: int, broken: int, weight: float) -> None:
    found = net_gain(fixed, broken, weight)
    m, q = fixed + broken, weight / (1 + weight)
    exact = oracle.binomtest(fixed, m, q, "greater").pvalue if m else 1.0
    half = 0.5 * oracle.binom.pmf(fixed, m, q) if m else 0.0
    assert found.p_exact == pytest.approx(exact, abs=1e-10)
    assert found.p_mid == pytest.approx(exact - half, abs=1e-10)


@given(st.integers(0, 50), st.integers(0, 50))
def test_weight_one_is_mcnemar(fixed: int, broken: int) -> None:
    if fixed + broken:
        expected = mcnemar(fixed, broken).p_mid_greater
        assert net_gain(fixed, broken, 1.0).p_mid == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("weight", [1.0, 2.0, 3.0])
@pytest.mark.parametrize("broken", [0, 1, 5, 30])
def test_fewest_fixes_is_the_first_that_passes(broken: int, weight: float) -> None:
    need = fewest_fixes(broken, weight)
    assert net_gain(need, broken, weight).p_mid <= 0.05
    assert net_gain(need - 1, broken, weight).p_mid > 0.05


def test_break_share() -> None:
    found = break_share(1, 46)
    assert found.share == pytest.approx(1 / 46)
    assert found.upper == pytest.approx(oracle.beta.ppf(0.95, 2, 45))
    assert "1 of the 46" in found.describe()
    assert break_share(3, 3).upper == 1.0
    clean = break_share(0, 20, alpha=0.1)
    assert (clean.share, clean.level, clean.n) == (0.0, 0.9, 20)
    assert clean.upper == pytest.approx(1 - 0.1 ** (1 / 20))
    nothing = break_share(0, 0)
    assert nothing.share is None
    assert "solved nothing" in nothing.describe()
    for solved in (0, 3):
        with pytest.raises(ArgumentError, match=r"^broken: "):
            break_share(4, solved)


@given(arms, st.sampled_from([1.0, 2.0, 3.5]))
def test_net_gain_per_case_is_the_average_over_ordered_pairs(
    rows: list[tuple[list[int], list[int]]], weight: float
) -> None:
    a, b = [row[0] for row in rows], [row[1] for row in rows]
    ours = net_gain_per_case(_sums(a), _sums(b), weight)
    for value, first, second in zip(ours, a, b, strict=True):
        pairs = [
            (1 + (weight - 1) * decides) * (new - old)
            for (decides, old), new in itertools.product(itertools.permutations(first, 2), second)
        ]
        assert value == pytest.approx(np.mean(pairs), abs=1e-12)


@pytest.mark.parametrize("p", [0.05, 0.3, 0.5, 0.9])
@pytest.mark.parametrize(("k_a", "k_b"), [(2, 1), (3, 3), (5, 2)])
def test_an_unchanged_flaky_case_gains_nothing_on_average(p: float, k_a: int, k_b: int) -> None:
    pairs = list(itertools.product(range(k_a + 1), range(k_b + 1)))
    net = net_gain_per_case(
        from_counts([a for a, _ in pairs], [k_a] * len(pairs)),
        from_counts([b for _, b in pairs], [k_b] * len(pairs)),
        3.0,
    )
    chance = [oracle.binom.pmf(a, k_a, p) * oracle.binom.pmf(b, k_b, p) for a, b in pairs]
    assert float(net @ np.array(chance)) == pytest.approx(0.0, abs=1e-12)


def test_clean_fixes_and_breaks_are_worth_one_and_minus_the_weight() -> None:
    net = net_gain_per_case(_sums([[0, 0], [1, 1], [1, 1]]), _sums([[1, 1], [0, 0], [1, 1]]), 2.5)
    assert net.tolist() == [1.0, -2.5, 0.0]


@given(arms, st.randoms())
def test_order_of_cases_does_not_matter(
    rows: list[tuple[list[int], list[int]]], random: object
) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    found = [
        cross_fitted_gain(_sums([r[0] for r in order]), _sums([r[1] for r in order]))
        for order in (rows, shuffled)
    ]
    assert found[0].p == pytest.approx(found[1].p, abs=1e-12)
    shares = [
        excess_break_share(_sums([r[0] for r in order]), _sums([r[1] for r in order])).excess
        for order in (rows, shuffled)
    ]
    assert shares[0] == pytest.approx(shares[1], abs=1e-12)


def test_half_a_pseudo_fix_and_half_a_pseudo_break_are_added() -> None:
    a, b = _sums([[0, 0], [0, 1], [1, 1], [0, 0]]), _sums([[1, 1], [1, 1], [1, 0], [1, 1]])
    found = cross_fitted_gain(a, b, harm_weight=2.0)
    net = found.per_case
    size = net.size + 1
    mean = (net.sum() - 0.5) / size
    variance = ((net**2).sum() + 0.5 * 5) / size - mean**2
    assert found.mean == pytest.approx(mean)
    assert found.t == pytest.approx(mean / np.sqrt(variance / size))
    assert found.p == pytest.approx(oracle.t.sf(found.t, 3))
    assert "worth" in found.describe()


def test_clusters_widen_by_what_they_share() -> None:
    a = _sums([[0, 0]] * 12)
    b = _sums([[1, 1]] * 6 + [[0, 0]] * 6)
    loose = cross_fitted_gain(a, b)
    tight = cross_fitted_gain(a, b, clusters=[k // 2 for k in range(12)])
    assert tight.clusters == 6
    assert tight.se is not None
    assert loose.se is not None
    assert tight.se > loose.se
    net = loose.per_case
    mean = (net.sum() - 0.5) / 13
    sums = net.reshape(6, 2).sum(axis=1) - 2 * mean
    squares = (sums**2).sum() + 0.5 * (1 - mean) ** 2 + 0.5 * (2 + mean) ** 2
    assert tight.se == pytest.approx(np.sqrt(6 / 5 * squares) / 13)


def test_too_little_is_p_one_with_a_reason() -> None:
    one = cross_fitted_gain(_sums([[0, 0]]), _sums([[1, 1]]))
    assert (one.p, one.t) == (1.0, None)
    assert "fewer than two" in one.describe()
    same = cross_fitted_gain(_sums([[0, 0]] * 3), _sums([[1, 1]] * 3), pseudo_weight=0.0)
    assert (same.p, same.t) == (1.0, None)
    assert "spread is unknown" in same.reason
    none = excess_break_share(_sums([[0, 0]]), _sums([[1, 1]]))
    assert none.excess is None
    assert "solved nothing" in none.describe()


def test_the_smaller_floor_is_taken_off() -> None:
    solid, shaky = [[1, 1, 1, 1]] * 10, [[1, 1, 0, 0]] * 10
    found = excess_break_share(_sums(solid), _sums(shaky))
    assert found.share == pytest.approx(0.5)
    assert found.floor_baseline == 0.0
    assert found.floor_candidate == pytest.approx(2 / 3)
    assert found.excess == pytest.approx(0.5)
    assert "+50.0 points" in found.describe()
    gone = excess_break_share(_sums(shaky), _sums([[0, 0]] * 10))
    assert gone.floor_candidate is None
    assert gone.excess == pytest.approx(1 - 2 / 3)


def test_one_of_two_is_not_solved() -> None:
    assert majority_solved(from_counts([0, 1, 2, 2], [2, 2, 2, 3])).tolist() == [
        False,
        False,
        True,
        True,
    ]


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: net_gain(-1, 0), "fixed"),
        (lambda: net_gain(1, 0, 0.0), "harm_weight"),
        (lambda: fewest_fixes(0, 2.0, 0.0), "alpha"),
        (lambda: net_gain_per_case(_sums([[1, 1]]), _sums([[1], [1]])), "candidate"),
        (lambda: net_gain_per_case(_sums([[1]]), _sums([[1]])), "baseline"),
        (lambda: excess_break_share(_sums([[1, 1]]), _sums([[1]])), "candidate"),
        (lambda: excess_break_share(_sums([[1, 1]]), _sums([[1, 1], [1, 1]])), "candidate"),
        (lambda: from_counts([2], [1]), "passes"),
        (lambda: from_counts([0], [0]), "trials"),
        (lambda: from_counts([0.5], [1]), "passes"),
        (lambda: from_scores("rows", [[]]), "rows"),
    ],
)
def test_bad_arguments_are_named(call: object, argument: str) -> None:
    assert callable(call)
    with pytest.raises(ArgumentError, match=f"^{argument}: "):
        call()


def test_fixes_needed_by_default() -> None:
    assert [fewest_fixes(k) for k in range(6)] == [6, 10, 13, 17, 20, 22]
    assert net_gain(7, 2) == net_gain(7, 2, 2.0)
    assert net_gain(7, 2).n == 9
