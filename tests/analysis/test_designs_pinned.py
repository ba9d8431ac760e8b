"""What designs report, held against independent computations of the whole of it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import beta
from scipy.stats import binom, multivariate_normal, norm
from statsmodels.stats.multitest import multipletests

from fairtrial.analysis.arms import compare_arms
from fairtrial.analysis.cases import PairedCases, paired_trials
from fairtrial.analysis.stopping.looks import bounds_ahead, look, reading
from fairtrial.analysis.stopping.regression import confirmed_regression
from fairtrial.model.decision import Outcome
from fairtrial.stats.trials import from_counts

# Lan and DeMets, O'Brien-Fleming spending, two looks at half and all of the cases.
TWO_LOOKS = (2.96259, 1.96860)


def _cases(fixed: int, broken: int, same: int) -> PairedCases:
    a = [0] * fixed + [1] * broken + [1] * same
    b = [1] * fixed + [0] * broken + [1] * same
    one = [1] * len(a)
    return paired_trials(from_counts(a, one), from_counts(b, one))


def _mid_p(fixed: int, broken: int) -> float:
    """McNemar's mid-p, from the binomial distribution."""
    n, small = fixed + broken, min(fixed, broken)
    return float(min(1.0, 2 * binom.cdf(small, n, 0.5) - binom.pmf(small, n, 0.5)))


def _p_beyond(effect: float, info: tuple[float, float], z: float) -> float:
    """P(stopped above at the first look, or went on and came out above z at the second)."""
    first, second = (effect * math.sqrt(one) for one in info)
    r = math.sqrt(info[0] / info[1])
    bound = TWO_LOOKS[0]

    def both(x: float, y: float) -> float:
        corner, means, shape = [x, y], [first, second], [[1, r], [r, 1]]
        return float(multivariate_normal.cdf(corner, means, shape, abseps=1e-9))

    went_on = norm.cdf(bound, first) - norm.cdf(-bound, first)
    below = both(bound, z) - both(-bound, z)
    return float(norm.sf(bound, first) + went_on - below)


def test_the_adjusted_estimate_interval_and_p_of_two_looks() -> None:
    seen = [_cases(8, 4, 28), _cases(22, 7, 51)]
    taken = [look(seen[0], [], 80, alpha=0.05, final=False)]
    taken.append(look(seen[1], taken, 80, alpha=0.05, final=True))
    assert [one.decision.evidence["z_bound"] for one in taken] == pytest.approx(TWO_LOOKS, abs=1e-5)
    assert [one.decision.evidence["p"] for one in taken] == pytest.approx(
        [_mid_p(8, 4), _mid_p(22, 7)]
    )
    z = float(norm.isf(_mid_p(22, 7) / 2))
    assert taken[1].z == pytest.approx(z)
    assert [one.stops for one in taken] == [False, z >= TWO_LOOKS[1]]
    naive = 15 / 80
    info = ((z / naive) ** 2 / 2, (z / naive) ** 2)
    ends = [
        brentq(lambda effect, t=target: _p_beyond(effect, info, z) - t, -1.0, 1.0)
        for target in (0.025, 0.5, 0.975)
    ]
    found = reading(taken, seen[1])
    assert found is not None
    assert found.naive == pytest.approx(naive)
    reported = (found.interval.lower, found.median_unbiased, found.interval.upper)
    assert reported == pytest.approx(ends, abs=2e-5)
    assert found.p.value == pytest.approx(2 * _p_beyond(0.0, info, z), abs=1e-5)
    half = TWO_LOOKS[1] * naive / z
    assert (found.repeated.lower, found.repeated.upper) == pytest.approx(
        (naive - half, naive + half), abs=1e-5
    )


def test_boundaries_of_looks_that_are_left_are_those_of_the_whole_plan() -> None:
    taken = [look(_cases(8, 4, 28), [], 80, alpha=0.05, final=False)]
    ((cases, bound),) = bounds_ahead(taken, [40], 80, 0.05)
    assert cases == 80
    assert bound == pytest.approx(TWO_LOOKS[1], abs=1e-5)
    assert bounds_ahead(taken, [], 80, 0.05) == []
    # A look at fewer than ten cases counts for nothing, and spends nothing.
    assert [n for n, _ in bounds_ahead([], [5, 35, 40], 80, 0.05)] == [40, 80]


def test_cells_are_adjusted_as_by_holm() -> None:
    counts = {"x": (12, 1), "y": (11, 3), "z": (6, 2), "same": (0, 0)}
    found = compare_arms({name: _cases(*two, 40 - sum(two)) for name, two in counts.items()})
    alone = [_mid_p(*two) if any(two) else 1.0 for two in counts.values()]
    _, adjusted, _, _ = multipletests(alone, method="holm")
    assert [one.p_adjusted for one in found.values()] == pytest.approx(adjusted.tolist())


@pytest.mark.parametrize(("shape", "published"), [(0.1, 0.07), (0.5, 0.22)])
def test_how_often_an_unchanged_agent_is_called_regressed(shape: float, published: float) -> None:
    # Which of the eight outcomes of a trial and two reruns stop a run, if the baseline solved it.
    stops = [
        trials
        for trials in np.ndindex(2, 2, 2)
        if confirmed_regression([bool(one) for one in trials], baseline_solved=True).outcome
        is Outcome.STOP
    ]
    assert stops == [(0, 0, 0)]
    # A case passes with chance p, drawn from Beta(s, s): three passes, then three failures have
    # the chance E[p^3 (1 - p)^3] = B(s + 3, s + 3) / B(s, s); 50 cases have 50 chances.
    each = float(beta(shape + 3, shape + 3) / beta(shape, shape))
    assert 1 - (1 - each) ** 50 == pytest.approx(published, abs=0.01)
