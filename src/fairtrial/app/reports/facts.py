"""Facts of an experiment as JSON: the same objects in every report."""

from __future__ import annotations

from dataclasses import asdict

from fairtrial.interchange.experiment_exports.export import timestamp
from fairtrial.model.baseline import AgainstBaseline
from fairtrial.model.experiment import ExperimentState, GraderTotals
from fairtrial.model.json import Json
from fairtrial.model.row import Row
from fairtrial.stats.proportion import Rate


def state_json(state: ExperimentState) -> dict[str, Json]:
    """Return an experiment and where it stands."""
    experiment, totals = state.experiment, state.totals
    return {
        "id": experiment.id,
        "name": experiment.name,
        "dataset": experiment.dataset_ref,
        "dataset_digest": experiment.dataset_digest,
        "arms": list(experiment.arms),
        "status": state.status.value,
        "status_reason": state.status_reason,
        "created_at": timestamp(experiment.created_at),
        "finished_at": timestamp(state.finished_at) if state.finished_at else None,
        "n_cases": experiment.n_cases,
        "trials": experiment.trials,
        "n_planned": experiment.n_planned,
        "n_recorded": totals.recorded,
        "passed": totals.passed,
        "failed": totals.failed,
        "undecided": totals.undecided,
        "causes": {cause.value: count for cause, count in totals.causes.items()},
        "n_flaky_rows": totals.flaky_rows,
        "cost_usd": totals.cost_usd,
        "n_costed": totals.costed,
        "grading_cost_usd": totals.grading_cost_usd,
        "n_grading_costed": totals.grading_costed,
        "reused": [asdict(reused) for reused in totals.reused],
        "duration_s": totals.duration_s,
        "n_timed": totals.timed,
        "seed": experiment.seed,
        "identity": experiment.identity,
        "spec": dict(experiment.spec),
        "policy": dict(experiment.policy),
        "series": experiment.series,
        "provenance": asdict(experiment.provenance),
    }


def against_json(against: AgainstBaseline) -> dict[str, Json]:
    """Return what an experiment fixed and broke; counts are null where there are none."""
    flips = against.flips
    return {
        "id": against.id,
        "name": against.name,
        "arm": against.arm,
        "fixed": None if flips is None else flips.fixed,
        "broken": None if flips is None else flips.broken,
        "compared": None if flips is None else flips.compared,
        "reason": against.reason,
    }


def rate_json(rate: Rate) -> dict[str, Json]:
    """Return a rate: its value is null, with a reason, where there is none."""
    interval = rate.interval
    return {
        "estimate": rate.estimate,
        "reason": rate.reason,
        "n": rate.n,
        "trials": rate.trials,
        "ci": None if interval is None else asdict(interval),
    }


def grader_json(totals: GraderTotals) -> dict[str, Json]:
    """Return one grader's totals."""
    return asdict(totals)


def row_json(row: Row) -> dict[str, Json]:
    """Return one row; a mean is null where it has no part."""
    return {
        "case_id": row.key.case_id,
        "condition": row.key.condition,
        "arm": row.arm,
        "passed": row.passed,
        "failed": row.failed,
        "undecided": row.undecided,
        "mean_score": row.score_sum / row.scored
        if row.scored and row.score_sum is not None
        else None,
        "mean_duration_s": row.mean_duration_s,
        "cost_usd": row.cost_usd,
        "first_reason": row.first_reason,
    }
