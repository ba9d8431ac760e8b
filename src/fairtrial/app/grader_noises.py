"""How much graders differ with themselves: kept with the regrade that measured it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace

from fairtrial.app.bench import Bench
from fairtrial.app.reports.experiment import ExperimentReport
from fairtrial.model.json import Json
from fairtrial.model.regrade import GraderNoise, RepeatedGrading


def keep_grader_noise(bench: Bench, experiment_id: str, measured: RepeatedGrading) -> None:
    """Keep what a regrade measured of its graders."""
    bench.store.settings.set(_key(experiment_id), asdict(measured), bench.clock.now())


def with_grader_noise(bench: Bench, report: ExperimentReport) -> ExperimentReport:
    """Return a report with what a regrade measured of its graders, if it did."""
    experiment = report.state.experiment
    if experiment.regrade_of is None:
        return report
    kept: Mapping[str, Json] | None = bench.store.settings.get(_key(experiment.id))
    if kept is None:
        return report
    noise = tuple(GraderNoise(**entry) for entry in kept["noise"])
    return replace(report, grader_noise=RepeatedGrading(kept["k"], noise))


def _key(experiment_id: str) -> str:
    return f"grader_noise:{experiment_id}"
