"""Reading rows and trials, a page at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    TextClause,
    false,
    func,
    or_,
    select,
    text,
    tuple_,
)

from fairtrial.model.case import CaseKey
from fairtrial.model.json import Json
from fairtrial.model.replay import ReplayNote
from fairtrial.model.row import Row
from fairtrial.model.score import Score
from fairtrial.model.task import ProcessUsage
from fairtrial.model.trial import Copied, Trial, TrialKey
from fairtrial.model.verdict import Cause, Verdict
from fairtrial.ports import RowFilter, RowQuery, TrialFilter
from fairtrial.store.blobs import Blobs
from fairtrial.store.codec import (
    attempt_of,
    from_json,
    from_micros,
    rerun_of,
    reused_of,
    tokens_of,
)
from fairtrial.store.database import Database
from fairtrial.store.tables import (
    TRIALS_A_ROW,
    grader_tally,
    score,
    trial,
    trial_body,
    trial_row,
)

_TRIALS_A_PAGE = 200
_KEY = (trial_row.c.case_id, trial_row.c.condition, trial_row.c.arm)
_OF_ROW = trial.c.id.between(
    trial_row.c.id * TRIALS_A_ROW, trial_row.c.id * TRIALS_A_ROW + (TRIALS_A_ROW - 1)
)

# Both are written as in the index of the slowest rows.
_TIMED = text("trial_row.timed > 0")
_MEAN_DURATION = text("(trial_row.duration_s / nullif(trial_row.timed, 0)) DESC")
# Written as the partial indexes are: a parameter in place of the 0 would hide them.
_ONLY = {
    "failed": text("trial_row.failed > 0"),
    "flaky": text("trial_row.passed > 0 AND trial_row.failed > 0"),
    "undecided": text("trial_row.undecided > 0"),
}
_HOLDS = {
    Verdict.PASSED: trial_row.c.passed > 0,
    Verdict.FAILED: trial_row.c.failed > 0,
    Verdict.UNDECIDED: trial_row.c.undecided > 0,
}


def rows(database: Database, blobs: Blobs, experiment: int, query: RowQuery) -> list[Row]:
    """Return the rows of an experiment that a query asks for."""
    with database.read() as connection:
        statement = _rows(experiment, query, fitting(connection, blobs, experiment, query.where))
        return [row_of(found) for found in connection.execute(statement)]


def _rows(experiment: int, query: RowQuery, where: Sequence[ColumnElement[bool]]) -> Select[Any]:
    statement = select(trial_row).where(*_wanted(experiment, query), *where)
    if query.order == "slowest":
        statement = statement.where(_TIMED).order_by(_MEAN_DURATION)
    elif query.after is not None:
        statement = statement.where(_after(query.after))
    return statement.order_by(*_KEY).limit(query.limit)


def n_rows(database: Database, blobs: Blobs, experiment: int, query: RowQuery) -> int:
    """Return how many rows a query has on all its pages."""
    statement = select(func.count()).select_from(trial_row).where(*_wanted(experiment, query))
    with database.read() as connection:
        where = fitting(connection, blobs, experiment, query.where)
        return connection.execute(statement.where(*where)).scalar_one()


def undecided_reasons(
    database: Database, experiment: int, limit: int
) -> list[tuple[str | None, int]]:
    """Return the first reasons of undecided rows and how many rows have each, most first."""
    rows = func.count()
    statement = (
        select(trial_row.c.first_reason, rows)
        .where(trial_row.c.experiment_id == experiment, _ONLY["undecided"])
        .group_by(trial_row.c.first_reason)
        .order_by(rows.desc(), trial_row.c.first_reason)
        .limit(limit)
    )
    with database.read() as connection:
        return [(reason, n) for reason, n in connection.execute(statement)]


def fitting(
    connection: Connection, blobs: Blobs, experiment: int, rows: RowFilter | None
) -> Sequence[ColumnElement[bool]]:
    """Return the condition of a filter of rows, and make the connection ready for it.

    Raises:
        NotFoundError: there is no experiment that rows are held against.
    """
    if rows is None:
        return ()
    # Few commands filter rows.
    from fairtrial.store.row_filter import row_condition  # noqa: PLC0415

    return (row_condition(connection, blobs, experiment, rows),)


def _wanted(experiment: int, query: RowQuery) -> Iterator[ColumnElement[bool] | TextClause]:
    yield trial_row.c.experiment_id == experiment
    if query.only is not None:
        yield _ONLY[query.only]
    if query.arm is not None:
        yield trial_row.c.arm == query.arm


def _after(key: Sequence[str]) -> ColumnElement[bool]:
    return tuple_(*_KEY) > tuple_(*key)


def row_of(found: Any) -> Row:
    """Return the row of its columns."""
    return Row(
        key=CaseKey(found.case_id, found.condition),
        arm=found.arm,
        passed=found.passed,
        failed=found.failed,
        undecided=found.undecided,
        score_sum=found.score_sum if found.scored else None,
        scored=found.scored,
        duration_s=found.duration_s if found.timed else None,
        timed=found.timed,
        cost_usd=found.cost_usd if found.costed else None,
        first_reason=found.first_reason,
    )


def keys(database: Database, experiment: int, causes: frozenset[Cause] | None) -> set[TrialKey]:
    """Return the keys of an experiment's trials, of those with one of the causes."""
    if causes is None:
        statement = (
            select(*_KEY, trial.c.number)
            .select_from(trial_row.join(trial, _OF_ROW))
            .where(trial_row.c.experiment_id == experiment)
        )
    else:
        statement = (
            select(*_KEY, trial.c.number)
            .join(trial, trial.c.row_id == trial_row.c.id)
            .where(trial.c.experiment_id == experiment, trial.c.cause.in_(sorted(causes)))
        )
    with database.read() as connection:
        return set(map(TrialKey._make, connection.execute(statement)))


class TrialReader:
    """Yields whole trials of one experiment; memory holds one page and one large payload."""

    def __init__(
        self, database: Database, blobs: Blobs, experiment: int, where: TrialFilter
    ) -> None:
        self._database = database
        self._blobs = blobs
        self._experiment = experiment
        self._where = where

    def __iter__(self) -> Iterator[Trial]:
        for page, scores in self._pages():
            for found in page:
                yield self._trial(found, scores.get(found.id, ()))

    def _pages(self) -> Iterator[tuple[Sequence[Any], dict[int, tuple[Score, ...]]]]:
        """Yield pages of trials with their scores, both as of one moment.

        No transaction is open while a page is looked at, so a slow reader keeps nothing alive.
        """
        after: tuple[Any, ...] | None = None
        while True:
            with self._database.read() as connection:
                rows = fitting(connection, self._blobs, self._experiment, self._where.rows)
                page = connection.execute(self._page(after).where(*rows)).all()
                scores = self._scores(connection, page)
            yield page, scores
            if len(page) < _TRIALS_A_PAGE:
                return
            last = page[-1]
            after = (last.case_id, last.condition, last.arm, last.number)

    def _page(self, after: tuple[Any, ...] | None) -> Select[Any]:
        statement = (
            select(*_KEY, trial, trial_body.c.inline, trial_body.c.blob)
            .select_from(
                trial_row.join(trial, _OF_ROW).join(trial_body, trial_body.c.trial_id == trial.c.id)
            )
            .where(trial_row.c.experiment_id == self._experiment, *self._conditions())
            .order_by(*_KEY, trial.c.number)
            .limit(_TRIALS_A_PAGE)
        )
        if after is None:
            return statement
        *key, number = after
        # The first condition finds the place in the index; the second leaves out what was seen.
        return statement.where(
            tuple_(*_KEY) >= tuple_(*key),
            or_(_after(key), trial.c.number > number),
        )

    def _conditions(self) -> Iterator[ColumnElement[bool]]:
        where = self._where
        if where.verdicts is not None:
            yield trial.c.verdict.in_(sorted(where.verdicts))
            # A row without such a trial need not be looked into.
            yield or_(false(), *(_HOLDS[verdict] for verdict in sorted(where.verdicts)))
        if where.causes is not None:
            yield from self._of_causes(where.causes)
        if where.arm is not None:
            yield trial_row.c.arm == where.arm
        if where.case_id is not None:
            yield trial_row.c.case_id == where.case_id

    def _of_causes(self, causes: frozenset[Cause | None]) -> Iterator[ColumnElement[bool]]:
        named = sorted(cause for cause in causes if cause is not None)
        wanted = trial.c.cause.in_(named)
        if None in causes:
            yield or_(wanted, trial.c.cause.is_(None))
            return
        yield wanted
        # The few trials with a cause have an index of their own; other rows are passed over.
        twin = trial.alias()
        yield trial_row.c.id.in_(
            select(twin.c.row_id).where(
                twin.c.experiment_id == self._experiment, twin.c.cause.in_(named)
            )
        )

    def _scores(self, connection: Connection, page: Sequence[Any]) -> dict[int, tuple[Score, ...]]:
        named = select(grader_tally.c.position, grader_tally.c.grader).where(
            grader_tally.c.experiment_id == self._experiment
        )
        graders = {row.position: row.grader for row in connection.execute(named)}
        statement = (
            select(score)
            .where(score.c.trial_id.in_([found.id for found in page]))
            .order_by(score.c.trial_id, score.c.ordinal)
        )
        scores: dict[int, tuple[Score, ...]] = {}
        for found in connection.execute(statement):
            one = Score(
                grader=graders[found.grader],
                value=found.value,
                passed=found.passed,
                reason=found.reason,
                required=found.required,
                weight=found.weight,
            )
            scores[found.trial_id] = (*scores.get(found.trial_id, ()), one)
        return scores

    def _trial(self, found: Any, scores: tuple[Score, ...]) -> Trial:
        body = from_json(self._blobs.unpack(found.inline, found.blob))
        process, replay, copied = (body.get(key) for key in ("process", "replay", "copied"))
        return Trial(
            key=TrialKey(found.case_id, found.condition, found.arm, found.number),
            verdict=Verdict(found.verdict),
            cause=None if found.cause is None else Cause(found.cause),
            reason=found.reason,
            score=found.score,
            scores=_judged(scores, body.get("judged", ())),
            output=body["output"],
            started_at=from_micros(found.started_at),
            duration_s=found.duration_s,
            tries=found.tries,
            seed=int(found.seed),
            cost_usd=found.cost_usd,
            tokens=tokens_of(body.get("tokens")),
            metrics=body.get("metrics", {}),
            spans=tuple(body.get("spans", ())),
            process=None if process is None else ProcessUsage(**process),
            at_fault=body.get("at_fault"),
            grading_cost_usd=found.grading_cost_usd,
            reused=reused_of(found.reused),
            replay=None if replay is None else ReplayNote(**replay),
            attempts=tuple(map(attempt_of, body.get("attempts", ()))),
            reruns=tuple(map(rerun_of, body.get("reruns", ()))),
            copied=None if copied is None else Copied(**copied),
        )


def _judged(scores: tuple[Score, ...], judged: Sequence[Mapping[str, Json]]) -> tuple[Score, ...]:
    """Return scores with what a body keeps of some: their cost, and what led to them."""
    if not judged:
        return scores
    told = list(scores)
    for one in judged:
        told[one["at"]] = replace(told[one["at"]], cost_usd=one["cost_usd"], detail=one["detail"])
    return tuple(told)
