"""Between an experiment and its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, select

from fairtrial.model.experiment import (
    Experiment,
    ExperimentState,
    Provenance,
    ReusedTotals,
    Status,
    Totals,
)
from fairtrial.model.json import Json
from fairtrial.model.verdict import Cause
from fairtrial.store.codec import from_json, from_micros, to_json, to_micros
from fairtrial.store.owner import Owner, this_process
from fairtrial.store.tables import cause_tally, experiment, reuse_tally, tally

_TALLY_COLUMNS = [column for column in tally.c if column.name != "experiment_id"]
STATE = select(experiment, *_TALLY_COLUMNS).join(tally, tally.c.experiment_id == experiment.c.id)
"""Selects experiments with their totals; to be narrowed and run by `states`."""


def states(connection: Connection, statement: Select[Any]) -> Sequence[ExperimentState]:
    """Return the experiments that a narrowed `STATE` selects, with where each stands."""
    found = connection.execute(statement).all()
    causes: dict[int, dict[Cause, int]] = {}
    counted = select(cause_tally).where(
        cause_tally.c.experiment_id.in_([row.id for row in found]), cause_tally.c.trials > 0
    )
    for row in connection.execute(counted):
        causes.setdefault(row.experiment_id, {})[Cause(row.cause)] = row.trials
    reused = _reused(connection, [row.id for row in found])
    return [_state(row, causes.get(row.id, {}), reused.get(row.id, ())) for row in found]


def _reused(
    connection: Connection, experiments: Sequence[int]
) -> dict[int, tuple[ReusedTotals, ...]]:
    statement = (
        select(reuse_tally)
        .where(reuse_tally.c.experiment_id.in_(experiments), reuse_tally.c.trials > 0)
        .order_by(reuse_tally.c.source)
    )
    reused: dict[int, tuple[ReusedTotals, ...]] = {}
    for row in connection.execute(statement):
        one = ReusedTotals(
            source=row.source,
            trials=row.trials,
            calls=row.calls,
            tokens=row.tokens if row.tokened else None,
            cost_usd=row.cost_usd if row.costed else None,
            costed=row.costed,
        )
        reused[row.experiment_id] = (*reused.get(row.experiment_id, ()), one)
    return reused


def columns_of(opened: Experiment) -> dict[str, Any]:
    """Return the columns of an experiment that this process begins to run."""
    return {
        "ref": opened.id,
        "name": opened.name,
        "dataset": opened.dataset,
        "dataset_number": opened.dataset_number,
        "dataset_digest": opened.dataset_digest,
        "arms": to_json(opened.arms).decode(),
        "trials": opened.trials,
        "n_cases": opened.n_cases,
        "seed": str(opened.seed),
        "spec": to_json(opened.spec).decode(),
        "policy": to_json(opened.policy).decode(),
        "identity": opened.identity,
        "provenance": to_json(asdict(opened.provenance)).decode(),
        "created_at": to_micros(opened.created_at),
        "status": Status.RUNNING.value,
        "owner": to_json(this_process()).decode(),
        "series": opened.series,
    }


def no_trials(number: int, now: datetime) -> dict[str, Any]:
    """Return the tally of an experiment before its first trial."""
    zeros = dict.fromkeys((column.name for column in _TALLY_COLUMNS), 0)
    return {**zeros, "experiment_id": number, "heartbeat_at": to_micros(now)}


def no_scores(number: int, spec: Mapping[str, Json]) -> list[dict[str, Any]]:
    """Return a row for each grader that the spec names, in its order."""
    graders = spec.get("graders")
    if not isinstance(graders, list | tuple):
        return []
    names = [
        grader["name"] for grader in graders if isinstance(grader, Mapping) and "name" in grader
    ]
    zeros = {"scored": 0, "total": 0, "value_sum": 0.0, "passed": 0}
    return [
        {**zeros, "experiment_id": number, "position": position, "grader": name}
        for position, name in enumerate(dict.fromkeys(names))
    ]


def owner_of(text: str | None) -> Owner | None:
    """Return the process that a column names."""
    return None if text is None else Owner(**from_json(text))


def _alive(status: Status, text: str | None) -> bool | None:
    if status is not Status.RUNNING:
        return False
    owner = owner_of(text)
    return None if owner is None else owner.alive()


def _state(
    found: Any, causes: Mapping[Cause, int], reused: tuple[ReusedTotals, ...]
) -> ExperimentState:
    status = Status(found.status)
    return ExperimentState(
        experiment=Experiment(
            id=found.ref,
            name=found.name,
            dataset=found.dataset,
            dataset_number=found.dataset_number,
            dataset_digest=found.dataset_digest,
            arms=tuple(from_json(found.arms)),
            trials=found.trials,
            n_cases=found.n_cases,
            seed=int(found.seed),
            spec=from_json(found.spec),
            policy=from_json(found.policy),
            identity=found.identity,
            provenance=Provenance(**from_json(found.provenance)),
            created_at=from_micros(found.created_at),
            series=found.series,
        ),
        status=status,
        status_reason=found.status_reason,
        totals=Totals(
            passed=found.passed,
            failed=found.failed,
            undecided=found.undecided,
            causes=causes,
            rows=found.rows,
            flaky_rows=found.flaky_rows,
            cost_usd=found.cost_usd if found.costed else None,
            costed=found.costed,
            duration_s=found.duration_s if found.timed else None,
            timed=found.timed,
            grading_cost_usd=found.grading_cost_usd if found.grading_costed else None,
            grading_costed=found.grading_costed,
            reused=reused,
        ),
        heartbeat_at=from_micros(found.heartbeat_at),
        finished_at=None if found.finished_at is None else from_micros(found.finished_at),
        alive=_alive(status, found.owner),
    )
