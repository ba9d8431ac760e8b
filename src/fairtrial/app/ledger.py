"""The ledger of what was tried on a dataset, as reports tell it."""

from __future__ import annotations

from fairtrial.analysis.tried import Tried, tried
from fairtrial.app.bench import Bench
from fairtrial.app.noise_floors import config_key, noise_floor_of
from fairtrial.app.reports.comparison import ComparisonReport
from fairtrial.model.experiment import Experiment, ExperimentState
from fairtrial.model.noise import StoredFloor


def tried_in(bench: Bench, report: ComparisonReport, experiment: Experiment) -> Tried:
    """Return what trying many does to a best of the size of a comparison.

    Args:
        bench: The workbench.
        report: The comparison.
        experiment: The candidate's experiment.
    """
    found = report.comparison
    many = bench.store.experiments.n_tried(experiment.dataset)
    size = (found.coverage.paired, found.b.trials)
    rates = [rate for rate in (found.delta.b, found.delta.a) if rate is not None]
    # An arm that passes all shows no spread; the other one may.
    rate = next((rate for rate in rates if 0.0 < rate < 1.0), rates[0] if rates else None)
    return tried(experiment.dataset, many, floor=report.floor, size=size, rate=rate)


def tried_by(bench: Bench, race: ExperimentState, held_out: ComparisonReport | None) -> Tried:
    """Return what a race, and whatever was run before, does to a best on its dataset.

    The size is that of the held-out comparison, else that of the race's first arm.
    """
    experiment = race.experiment
    if held_out is not None:
        return tried_in(bench, held_out, experiment)
    many = bench.store.experiments.n_tried(experiment.dataset)
    floor: StoredFloor | None = noise_floor_of(bench, config_key(experiment, experiment.arms[0]))
    decided = race.totals.decided
    rate = race.totals.passed / decided if decided else None
    size = (experiment.n_cases, experiment.trials)
    return tried(experiment.dataset, many, floor=floor, size=size, rate=rate)
