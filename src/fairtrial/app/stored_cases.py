"""The cases that a stored experiment ran on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from fairtrial.app.bench import Bench
from fairtrial.model.case import Case, CaseKey
from fairtrial.model.experiment import Experiment


def cases_of_id(bench: Bench, experiment: Experiment, case_id: str) -> Sequence[Case]:
    """Return a case under each of its conditions, as the experiment's own version has it."""
    datasets = bench.store.datasets
    version = datasets.version(f"{experiment.dataset}@{experiment.dataset_number}")
    return datasets.cases_of_id(version, case_id)


def stored_cases(
    bench: Bench, experiment: Experiment, wanted: Callable[[CaseKey], bool]
) -> Iterator[Case]:
    """Yield the wanted cases as the experiment's own dataset version has them, in its order."""
    datasets = bench.store.datasets
    version = datasets.version(f"{experiment.dataset}@{experiment.dataset_number}")
    positions = [
        case.position
        for case in datasets.outline(version)
        if wanted(CaseKey(case.id, case.condition))
    ]
    return datasets.cases(version, positions)
