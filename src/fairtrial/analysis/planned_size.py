"""How many cases and trials a comparison needs, and what it can see, before anything runs.

A gain may be *spread*, a little in every case, or *concentrated* in a few cases that are fixed for
good: these scatter more, because it is luck which cases the dataset has. Without any noise only
the latter makes sense.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fairtrial.stats.flip_rate import flip_rate_at_most
from fairtrial.stats.power import flaky_design, smallest_effect, t_test_power
from fairtrial.stats.tails import t_quantile
from fairtrial.stats.trials import from_counts
from fairtrial.stats.variance import VarianceComponents, variance_components

GUESSED_FLIP_RATE = 0.25
"""Of an ordinary agent: run a case twice, and its verdict flips one time in four."""
USUAL_CASES = (20, 50, 100, 200, 500, 1000)
USUAL_TRIALS = (1, 3, 5)
MOST_CASES = 1_000_000
"""Beyond, a plan is no plan."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a comparison shall be able to show.

    Attributes:
        flip_rate: Chance that two trials of one case differ although nothing changed.
        alpha: Two-sided error.
        power: Chance to see the effect.
        spread: A gain may be taken to be a little in every case where nothing else is asked; not
            where the flip rate is only the highest that fits: it may be 0.
    """

    flip_rate: float = GUESSED_FLIP_RATE
    alpha: float = 0.05
    power: float = 0.8
    spread: bool = True

    def variance(self, trials: int) -> float:
        """Return the variance of one case's difference, its true difference being that of all."""
        return flaky_design(self.flip_rate, trials).variance


def effect_of(cases: int, trials: int, asked: Question, *, spread: bool = True) -> float | None:
    """Return the smallest difference that a plan shows; None where none can be given.

    Formula: e1 is the smallest effect at a variance of 1. A spread gain needs e1 * sqrt(variance);
    a concentrated one solves effect² = e1² (effect (1 - effect) + variance).

    Args:
        cases: Cases.
        trials: Trials a case and arm.
        asked: The noise, and what counts as shown.
        spread: Every case gains a little; else a few cases gain all there is.
    """
    unit = smallest_effect(cases, 1.0, alpha=asked.alpha, power=asked.power).effect
    if unit is None:
        return None
    variance, square = asked.variance(trials), unit * unit
    if spread and asked.spread and variance > 0.0:
        effect = unit * math.sqrt(variance)
    else:
        inner = square * square + 4.0 * (1.0 + square) * square * variance
        effect = (square + math.sqrt(inner)) / (2.0 * (1.0 + square))
    return effect if effect <= 1.0 else None


def cases_for(effect: float, trials: int, asked: Question, *, spread: bool = True) -> int | None:
    """Return how many cases show a difference; None beyond `MOST_CASES`.

    Args:
        effect: The difference, as a share.
        trials: Trials a case and arm.
        asked: The noise, and what counts as shown.
        spread: As for `effect_of`.
    """
    few, many = 1, MOST_CASES + 1
    while many - few > 1:
        middle = (few + many) // 2
        shown = effect_of(middle, trials, asked, spread=spread)
        if shown is not None and shown <= effect + 1e-12:
            many = middle
        else:
            few = middle
    return many if many <= MOST_CASES else None


def power_of(effect: float, cases: int, trials: int, asked: Question) -> float | None:
    """Return the chance to see a difference; None with a single case."""
    variance = asked.variance(trials)
    if not asked.spread or variance == 0.0:
        variance += effect * (1.0 - effect)
    if cases < 2 or variance == 0.0:
        return None
    critical = t_quantile(1.0 - 0.5 * asked.alpha, cases - 1)
    return min(1.0, t_test_power(effect * math.sqrt(cases / variance), cases - 1, critical))


def effects(
    cases: Sequence[int], trials: Sequence[int], asked: Question
) -> dict[tuple[int, int], float | None]:
    """Return the smallest difference of each number of cases with each number of trials."""
    return {(n, k): effect_of(n, k, asked) for n in cases for k in trials}


def noise_of(counts: Mapping[tuple[int, int], int]) -> VarianceComponents | None:
    """Return the noise of a stored experiment; None without a decided case.

    Args:
        counts: How many rows have so many (passed, decided) trials.
    """
    rows = [pair for pair, n in counts.items() if pair[1] for _ in range(n)]
    if not rows:
        return None
    return variance_components(from_counts([p for p, _ in rows], [k for _, k in rows]))


def most_flips(counts: Mapping[tuple[int, int], int]) -> float | None:
    """Return the highest flip rate that fits (one-sided, 95 %) when no row has shown a flip.

    None when a row did, or none has a second trial with a verdict.

    Args:
        counts: How many rows have so many (passed, decided) trials.
    """
    several = {pair: n for pair, n in counts.items() if pair[1] > 1 and n}
    if not several or any(0 < passed < decided for passed, decided in several):
        return None
    return flip_rate_at_most(sum(several.values()), min(decided for _, decided in several))
