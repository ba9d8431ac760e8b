"""A guard: its statistics by independent means, and how often it holds by mistake."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats as scipy_stats
from tests.analysis.comparing.conftest import cases, compared

from fairtrial.analysis.comparing.guarding import guard
from fairtrial.analysis.gate.ship import ShipRules
from fairtrial.model.decision import Outcome

RULES = ShipRules(harm_weight=2.0, break_limit=0.1)


@pytest.mark.parametrize(("fixed", "broken", "kept"), [(0, 1, 30), (4, 3, 40), (2, 9, 60)])
@pytest.mark.parametrize("weight", [1.0, 2.0])
def test_single_trials_lose_by_the_mid_p_of_a_binomial(
    fixed: int, broken: int, kept: int, weight: float
) -> None:
    before = [0] * fixed + [1] * (broken + kept)
    after = [1] * fixed + [0] * broken + [1] * kept
    rules = ShipRules(harm_weight=weight, break_limit=0.1)
    found = guard(compared(cases(before, 1), cases(after, 1)), rules)
    # scipy.stats.binom: as few fixes or fewer, half of as many.
    law = scipy_stats.binom(fixed + broken, weight / (1 + weight))
    p_loss = float(law.cdf(fixed - 1) + 0.5 * law.pmf(fixed))
    share = broken / (broken + kept)
    assert found.evidence["p_loss"] == pytest.approx(p_loss, abs=1e-12)
    assert found.evidence["broken_share"] == pytest.approx(share)
    holds = share > 0.1 or p_loss <= 0.05
    assert found.outcome is (Outcome.HOLD if holds else Outcome.SHIP)


def _drawn(counts: Sequence[int]) -> list[tuple[int, int, int]]:
    return [tuple(int(k < count) for k in range(3)) for count in counts]  # type: ignore[misc]


def test_several_trials_are_what_enumeration_of_their_pairs_says() -> None:
    a = [3, 3, 2, 0, 1, 3, 2, 0, 3, 1, 3, 3]
    b = [3, 0, 1, 2, 1, 2, 2, 0, 1, 0, 3, 3]
    found = guard(compared(cases(a, 3), cases(b, 3)), RULES)
    net, broke, alone = [], [], []
    for before, after in zip(_drawn(a), _drawn(b), strict=True):
        pairs = list(itertools.permutations(before, 2))
        # One baseline trial says whether the case was solved, another is what B is compared with.
        net.append(
            np.mean([y - x if not solved else 2 * (y - x) for solved, x in pairs for y in after])
        )
        broke.append(np.mean([x * (1 - y) for x in before for y in after]))
        alone.append(np.mean([x * (1 - y) for x, y in pairs]))
    padded = math.fsum(net) + 0.5 * (1 - 2)
    n = len(net)
    mean = padded / (n + 1)
    squares = math.fsum((v - mean) ** 2 for v in net) + 0.5 * ((1 - mean) ** 2 + (2 + mean) ** 2)
    t = mean / (math.sqrt(squares) / (n + 1))
    assert found.evidence["p_loss"] == pytest.approx(float(scipy_stats.t.cdf(t, n - 1)), abs=1e-9)
    solved = sum(a) / 3
    floor_b = np.sum(
        [np.mean([x * (1 - y) for x, y in itertools.permutations(one, 2)]) for one in _drawn(b)]
    ) / (sum(b) / 3)
    floor = min(float(np.sum(alone)) / solved, float(floor_b))
    share = float(np.sum(broke)) / solved - floor
    assert found.evidence["broken_share"] == pytest.approx(share, abs=1e-12)
    assert found.outcome is Outcome.HOLD


def _held(rng: np.random.Generator, forgets: float, runs: int) -> float:
    held = 0
    for _ in range(runs):
        chance = rng.beta(0.5, 0.5, 100)
        after = np.where(rng.random(100) < forgets, 0.0, chance)
        a, b = (rng.binomial(3, p).tolist() for p in (chance, after))
        held += guard(compared(cases(a, 3), cases(b, 3)), RULES).outcome is Outcome.HOLD
    return held / runs


def test_an_unchanged_one_passes_and_one_that_forgets_a_fifth_is_held() -> None:
    rng = np.random.default_rng(11)
    assert _held(rng, 0.0, 120) <= 0.1
    assert _held(rng, 0.2, 60) >= 0.8


def test_the_limits_are_the_users() -> None:
    a, b = cases([3] * 40, 3), cases([3] * 34 + [0] * 6, 3)
    assert guard(compared(a, b), RULES).evidence["breaks"] is True
    lenient = ShipRules(harm_weight=1e-6, break_limit=0.2)
    found = guard(compared(a, b), lenient)
    assert found.evidence["breaks"] is False
    assert found.evidence["broken_share"] == pytest.approx(0.15)
