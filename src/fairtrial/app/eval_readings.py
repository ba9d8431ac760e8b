"""What a stored run of eval tasks came to."""

from __future__ import annotations

from typing import Final

from fairtrial.analysis.eval_reading import EvalReading, eval_reading
from fairtrial.app.bench import Bench
from fairtrial.model.case import Case
from fairtrial.model.eval_task import EVAL_TASK, TaskStatus
from fairtrial.model.experiment import Experiment, ExperimentState

DATASETS: Final = "evals/"
"""What the names of the datasets of suites begin with."""


def suite_of(experiment: Experiment) -> str:
    """Return the name of the suite that an experiment ran."""
    return experiment.dataset.removeprefix(DATASETS)


def reading_of(bench: Bench, state: ExperimentState) -> EvalReading:
    """Return what a run came to; its trials are read one after the other.

    Raises:
        StoreError: the store cannot be read.
    """
    experiment = state.experiment
    store = bench.store
    version = store.datasets.version(f"{experiment.dataset}@{experiment.dataset_number}")
    cases = list(store.datasets.cases(version, list(store.experiments.positions(experiment.id))))
    return eval_reading(
        suite=suite_of(experiment),
        plan=(experiment.trials, experiment.arms),
        cases=sorted(cases, key=lambda case: case.id),
        validated=_validated(bench, cases),
        trials=store.experiments.trials(experiment.id),
    )


def _validated(bench: Bench, cases: list[Case]) -> dict[str, bool | None]:
    """Return whether the version of each task that was run is validated now."""
    known = {
        kept.task.digest: kept.status is TaskStatus.VALIDATED
        for project, suite in bench.store.suites.suites()
        for kept in bench.store.suites.tasks(project, suite)
    }
    return {case.id: known.get(str(case.metadata.get(EVAL_TASK))) for case in cases}
