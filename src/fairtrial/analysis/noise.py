"""An A/A run: how much differs when nothing differs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fairtrial.analysis.cases import paired_trials
from fairtrial.analysis.paired import paired
from fairtrial.analysis.planned_size import USUAL_CASES, USUAL_TRIALS, Question, effect_of
from fairtrial.model.noise import NoiseFloor, Visible
from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.flip_rate import flip_rate_at_most
from fairtrial.stats.trials import TrialSums
from fairtrial.stats.variance import variance_components

_COIN = 0.5
"""Nothing flips more often than a fair coin, except by luck in few trials."""


def noise_floor(
    first: TrialSums, second: TrialSums, sizes: Sequence[int] = USUAL_CASES
) -> NoiseFloor:
    """Return the noise of an unchanged agent from two runs over the same cases.

    Variance within and between cases over the trials of both runs (one-way random effects), flip
    rate twice the variance within; drift by the paired test of run 1 against run 2: McNemar with
    one trial a case and run, else the sign-flip test. Without a single flip the highest flip rate
    that fits takes its place in what a comparison shows: a variance of 0 proves nothing.

    Args:
        first: Run 1's passes and trials by case.
        second: Run 2's, in the same order.
        sizes: Numbers of cases to say the smallest visible difference for; empty for none.

    Raises:
        ArgumentError: there is no case, or the runs have different ones.
    """
    if first.n == 0:
        raise ArgumentError("first", "needs at least one case")
    cases = paired_trials(first, second)
    both = TrialSums(
        first.trials + second.trials, first.total + second.total, first.squares + second.squares
    )
    found = variance_components(both)
    within = found.within or 0.0
    flip_rate = min(found.flip_rate or 0.0, 1.0)
    drift = paired(cases)
    inverse_trials = float((1.0 / first.trials + 1.0 / second.trials).sum())
    most = None
    if flip_rate == 0.0:
        least = int(both.trials.min())
        most = flip_rate_at_most(first.n, least)
    asked = Question(min(flip_rate if most is None else most, _COIN), spread=most is None)
    return NoiseFloor(
        cases=first.n,
        trials=0.5 * found.trials,
        flip_rate=flip_rate,
        within=within,
        between=found.between,
        first=float(np.mean(first.means)),
        second=float(np.mean(second.means)),
        sd=math.sqrt(within * inverse_trials) / first.n,
        drift_p=1.0 if drift.p is None else drift.p.value,
        drift_method="none" if drift.p is None else drift.p.method,
        visible=tuple(
            Visible(n, k, effect_of(n, k, asked))
            for n in (sorted({*sizes, first.n}) if sizes else ())
            for k in USUAL_TRIALS
        ),
        flip_rate_at_most=most,
        sd_at_most=None if most is None else math.sqrt(0.5 * most * inverse_trials) / first.n,
    )
