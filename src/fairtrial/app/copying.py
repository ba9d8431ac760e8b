"""Trials of earlier experiments that stand for new ones, so that nothing is paid for twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from fairtrial.app.bench import Bench
from fairtrial.engine.stop_rules import trial_cost
from fairtrial.model.case import CaseKey
from fairtrial.model.experiment import Experiment
from fairtrial.model.json import content_hash
from fairtrial.model.trial import Copied, Trial, TrialKey
from fairtrial.model.verdict import Cause, Verdict
from fairtrial.ports import TrialFilter

_LOOKED_AT: Final = 500
"""Experiments on the dataset, the newest first, among which trials are looked for."""
_FINISHED: Final = (None, Cause.LIMIT)
"""Causes of trials that say something of their arm; a task error may have been bad luck."""


@dataclass(frozen=True, slots=True)
class _Source:
    """An arm that ran the very configuration of a cell.

    Attributes:
        experiment: Its experiment's id.
        arm: Its name.
        keys: Its finished trials.
        changed: Cases whose content is another there.
    """

    experiment: str
    arm: str
    keys: frozenset[TrialKey]
    changed: frozenset[CaseKey]


def copies_of(bench: Bench, experiment: Experiment) -> Callable[[TrialKey], Trial | None] | None:
    """Return what finds the earlier trial that stands for one; None when none may.

    A trial stands for another with the same case, task, graders, number, attempts and time limit.
    Which ones do is decided by what the store holds, so a resumed run finds them again.

    Raises:
        StoreError: the store cannot be read.
    """
    told = experiment.spec.get("reuse")
    if told is None:
        return None
    since = datetime.fromisoformat(told["since"])
    sources = _sources(bench, experiment, told["cells"])

    def copy_of(key: TrialKey) -> Trial | None:
        for source in sources.get(key.arm, ()):
            theirs = TrialKey(key.case_id, key.condition, source.arm, key.trial)
            if theirs not in source.keys or key.case_key in source.changed:
                continue
            trial = _whole(bench, source, theirs)
            if trial is not None and trial.started_at >= since:
                return _copied(trial, key, source)
        return None

    return copy_of


def _sources(bench: Bench, mine: Experiment, cells: list[str]) -> Mapping[str, list[_Source]]:
    wanted = {name: mine.configuration_of_arms[name] for name in cells}
    judged = _judged(mine)
    found: dict[str, list[_Source]] = {name: [] for name in wanted}
    for state in bench.store.experiments.newest(_LOOKED_AT, dataset=mine.dataset):
        other = state.experiment
        if other.id == mine.id or other.created_at > mine.created_at or _judged(other) != judged:
            continue
        if bench.store.pruner.without_outputs(other.id):
            continue
        for arm, configuration in other.configuration_of_arms.items():
            for name, own in wanted.items():
                if own == configuration:
                    found[name].append(_source(bench, mine, other, arm))
    return found


def _judged(experiment: Experiment) -> str:
    """Return a hash of all that makes two trials of one task comparable."""
    spec = experiment.spec
    design = spec.get("design", {})
    return content_hash(
        {
            "graders": spec.get("graders"),
            "scripts": spec.get("grader_scripts") or {},
            "limit": experiment.policy.get("trial_timeout"),
            "attempts": design if design.get("kind") == "seq" else {},
            "replay": (spec.get("calls") or {}).get("replay"),
        }
    )


def _source(bench: Bench, mine: Experiment, other: Experiment, arm: str) -> _Source:
    store = bench.store.experiments
    keys = store.recorded_keys(other.id)
    unusable = store.recorded_keys(other.id, frozenset(set(Cause) - {Cause.LIMIT}))
    changed: frozenset[CaseKey] = frozenset()
    if other.dataset_number != mine.dataset_number:
        here, there = _digests(bench, mine), _digests(bench, other)
        changed = frozenset(key for key in there if there[key] != here.get(key))
    return _Source(other.id, arm, frozenset(keys - unusable), changed)


def _digests(bench: Bench, experiment: Experiment) -> dict[CaseKey, str]:
    datasets = bench.store.datasets
    version = datasets.version(f"{experiment.dataset}@{experiment.dataset_number}")
    return {CaseKey(case.id, case.condition): case.digest for case in datasets.outline(version)}


def _whole(bench: Bench, source: _Source, key: TrialKey) -> Trial | None:
    where = TrialFilter(arm=key.arm, case_id=key.case_id)
    for trial in bench.store.experiments.trials(source.experiment, where):
        if trial.key == key:
            finished = trial.verdict is not Verdict.UNDECIDED and trial.cause in _FINISHED
            return trial if finished else None
    return None


def _copied(trial: Trial, key: TrialKey, source: _Source) -> Trial:
    """Return a trial as one of this experiment: what it cost was paid there."""
    origin = trial.copied or Copied(source.experiment, source.arm, trial_cost(trial))
    return replace(
        trial,
        key=key,
        scores=tuple(replace(score, cost_usd=0.0) for score in trial.scores),
        cost_usd=None,
        grading_cost_usd=None,
        reused=None,
        attempts=tuple(replace(attempt, cost_usd=None) for attempt in trial.attempts),
        reruns=(),
        copied=origin,
    )


def n_copied(bench: Bench, experiment: Experiment, keys: list[TrialKey]) -> dict[str, int]:
    """Return how many of some trials would be copied, by arm."""
    copy_of = copies_of(bench, experiment)
    found: dict[str, int] = {}
    for key in keys if copy_of is not None else ():
        if copy_of is not None and copy_of(key) is not None:
            found[key.arm] = found.get(key.arm, 0) + 1
    return found
