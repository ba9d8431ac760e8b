"""The pass rate of an experiment, as its design allows to say it."""

from __future__ import annotations

from fairtrial.model.experiment import Experiment
from fairtrial.ports import ExperimentStore
from fairtrial.stats.adaptive import verdict_share
from fairtrial.stats.proportion import Rate, pass_rate


def sampled_adaptively(experiment: Experiment) -> bool:
    """Return whether a case has a third trial only where the first two disagree."""
    return bool(experiment.spec.get("design", {}).get("kind") == "adaptive")


def pass_rate_of(store: ExperimentStore, experiment: Experiment, arm: str | None = None) -> Rate:
    """Return the pass rate over the cases of an arm, or of all arms.

    Of adaptive samples it is the share of cases that most trials passed, and has no interval.

    Raises:
        StoreError: the store cannot be read.
    """
    counts = store.outcome_counts(experiment.id, arm)
    return verdict_share(counts) if sampled_adaptively(experiment) else pass_rate(counts)
