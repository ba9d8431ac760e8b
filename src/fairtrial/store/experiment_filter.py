"""What a filter of experiments means in SQL."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import ColumnElement, Float, String, cast, func, or_, select
from sqlalchemy import case as when

from fairtrial.model.experiment import Status
from fairtrial.query.expression import Compare, Operator
from fairtrial.query.vocabularies.experiments import DONE
from fairtrial.store.filtering import (
    Build,
    Condition,
    Filterable,
    among,
    compared,
    of_start,
    pattern,
)
from fairtrial.store.tables import cause_tally, experiment, grader_tally, tally

_decided = tally.c.passed + tally.c.failed


def _in(column: ColumnElement[Any], path: str) -> ColumnElement[Any]:
    """Return what stands at a place of a JSON column; null when nothing does."""
    return func.json_extract(column, path, type_=String)


_spec = experiment.c.spec
_provenance = experiment.c.provenance
_replays = or_(_in(_spec, "$.calls.replay").is_not(None), _in(_spec, "$.replay").is_not(None))

# What an experiment says of itself comes first; the rest is known by what only such a spec holds.
_source = func.coalesce(
    _in(_provenance, "$.source"),
    when(
        (_in(_spec, "$.regrade_of").is_not(None), "regrade"),
        (_replays, "replay"),
        (_in(_spec, "$.metrics").is_not(None), "metrics"),
        (_in(_spec, "$.sweep").is_not(None), "sweep"),
        else_="run",
    ),
)


def _dataset(found: Compare) -> Condition:
    """A version is meant with its number: `smoke@2`."""
    named = isinstance(found.value, str) and "@" in found.value
    column = experiment.c.dataset + "@" + cast(experiment.c.dataset_number, String)
    return compared(column if named else experiment.c.dataset, found.operator, found.value)


def _status(found: Compare) -> Condition:
    value = Status.FINISHED.value if found.value == DONE else found.value
    return compared(experiment.c.status, found.operator, value)


def _arm(found: Compare) -> Condition:
    arms = func.json_each(experiment.c.arms).table_valued("value")
    return among(select(arms.c.value), arms.c.value, found)


def _of_arms(path: str) -> Build:
    """Return what compares something that the task of each arm may have."""

    def build(found: Compare) -> Condition:
        tasks = func.json_each(_spec, "$.arms").table_valued("value")
        told = func.json_extract(tasks.c.value, path, type_=String)
        return among(select(told).where(told.is_not(None)), told, found)

    return build


def _grader(found: Compare) -> Condition:
    of_it = select(grader_tally.c.grader).where(grader_tally.c.experiment_id == experiment.c.id)
    return among(of_it, grader_tally.c.grader, found)


def _cause(found: Compare) -> Condition:
    of_it = select(cause_tally.c.cause).where(
        cause_tally.c.experiment_id == experiment.c.id, cause_tally.c.trials > 0
    )
    return among(of_it, cause_tally.c.cause, found)


def _score(found: Compare) -> Condition:
    mean = (
        select(grader_tally.c.value_sum / func.nullif(grader_tally.c.scored, 0))
        .where(grader_tally.c.experiment_id == experiment.c.id, grader_tally.c.grader == found.key)
        .scalar_subquery()
    )
    return compared(mean, found.operator, found.value)


def _contains(text: str) -> Condition:
    columns = (experiment.c.name, experiment.c.dataset, experiment.c.arms, experiment.c.series)
    return or_(*(compared(column, Operator.CONTAINS, text) for column in columns)) | (
        _spec.like(pattern(text), escape="\\")
    )


def _if_any(amount: ColumnElement[Any], count: ColumnElement[Any]) -> ColumnElement[Any]:
    return when((count > 0, amount))


EXPERIMENTS: Final = Filterable(
    {
        "name": experiment.c.name,
        "id": of_start(experiment.c.ref),
        "dataset": _dataset,
        "status": _status,
        "source": _source,
        "environment": _in(_provenance, "$.environment"),
        "task": _of_arms("$.kind"),
        "model": _of_arms("$.model"),
        "arm": _arm,
        "grader": _grader,
        "score": _score,
        "pass_rate": cast(tally.c.passed, Float) / func.nullif(_decided, 0),
        "passed": tally.c.passed,
        "failed": tally.c.failed,
        "undecided": tally.c.undecided,
        "cause": _cause,
        "trials": _decided + tally.c.undecided,
        "cases": experiment.c.n_cases,
        "flaky": tally.c.flaky_rows,
        "cost": _if_any(tally.c.cost_usd, tally.c.costed),
        "grading_cost": _if_any(tally.c.grading_cost_usd, tally.c.grading_costed),
        "duration": _if_any(tally.c.duration_s, tally.c.timed),
        "created": experiment.c.created_at,
        "finished": experiment.c.finished_at,
        "series": experiment.c.series,
        "branch": _in(_provenance, "$.git_branch"),
        "commit": of_start(_in(_provenance, "$.git_commit")),
        "cwd": _in(_provenance, "$.cwd"),
        "host": _in(_provenance, "$.host"),
    },
    {
        "finished": experiment.c.status == Status.FINISHED.value,
        "unfinished": experiment.c.status != Status.FINISHED.value,
        "failed": tally.c.failed > 0,
        "passed": (tally.c.passed > 0) & (tally.c.failed == 0),
        "undecided": tally.c.undecided > 0,
        "flaky": tally.c.flaky_rows > 0,
        "gated": func.coalesce(func.json_array_length(_spec, "$.gate"), 0) > 0,
        "dirty": func.coalesce(_in(_provenance, "$.git_dirty"), 0) == 1,
        "replay": _replays,
        "regrade": _in(_spec, "$.regrade_of").is_not(None),
    },
    _contains,
)
"""Over `experiment` joined with `tally`."""
