"""What trials took beside their first attempt; the totals of a run hold that of the first only."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from fairtrial.engine.stop_rules import further_cost
from fairtrial.model.experiment import ExperimentState
from fairtrial.model.trial import Trial
from fairtrial.ports import ExperimentStore

TRIES_AGAIN: Final = frozenset({"seq", "stop-on-regression"})
"""Designs that try a failed trial again."""


@dataclass(frozen=True, slots=True)
class FurtherTries:
    """Attempts and reruns after the first of each trial.

    Attributes:
        count: How many there were.
        cost_usd: What they and their feedback cost, as far as it is known; None when none is.
        duration_s: Seconds of the attempts; how long reruns took is not on record.
    """

    count: int
    cost_usd: float | None
    duration_s: float


def further_tries(store: ExperimentStore, state: ExperimentState) -> FurtherTries | None:
    """Return what a run took beside first attempts; None where its design has no others.

    Raises:
        StoreError: the store cannot be read.
    """
    if state.experiment.spec.get("design", {}).get("kind") not in TRIES_AGAIN:
        return None
    return _summed(store.trials(state.experiment.id))


def _summed(trials: Iterable[Trial]) -> FurtherTries:
    count, duration, costs = 0, 0.0, []
    for trial in trials:
        here = len(trial.attempts[1:]) + len(trial.reruns)
        if not here:
            continue
        count += here
        duration += sum(attempt.duration_s or 0.0 for attempt in trial.attempts[1:])
        cost = further_cost(trial)
        costs += [] if cost is None else [cost]
    return FurtherTries(count, sum(costs) if costs else None, duration)
