"""Two arms beside each other: their folded rows as columns, joined by case and condition."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Dialect,
    Float,
    Integer,
    Select,
    and_,
    bindparam,
    cast,
    func,
    literal_column,
    or_,
    select,
)
from sqlalchemy.engine.interfaces import DBAPICursor

from fairtrial.model.case import CaseKey
from fairtrial.model.columns import ArmColumns, CaseLabels, GraderColumns, PairedRows
from fairtrial.model.errors import NotFoundError
from fairtrial.model.verdict import Cause, Verdict
from fairtrial.store.codec import from_json
from fairtrial.store.database import Database
from fairtrial.store.flips import version_of_experiment
from fairtrial.store.prepared import Prepared
from fairtrial.store.tables import (
    TRIALS_A_ROW,
    experiment,
    grader_tally,
    score,
    trial,
    trial_row,
    version_case,
)

# Rows of an experiment mostly follow each other. Reading the stretch they lie in is twice as fast
# as going through the index, unless so many rows of others lie between them.
_DENSE = 4


def _mean(total: Column[Any], count: Column[Any]) -> ColumnElement[Any]:
    # Division by nothing is null; written out, no constant becomes a parameter.
    return cast(total, Float) / func.nullif(count, literal_column("0"))


_COST, _TOKENS = 8, 9
_COLUMNS: tuple[ColumnElement[Any], ...] = (
    trial_row.c.id,
    trial_row.c.case_id,
    trial_row.c.condition,
    trial_row.c.passed,
    trial_row.c.failed,
    trial_row.c.undecided,
    _mean(trial_row.c.score_sum, trial_row.c.scored),
    _mean(trial_row.c.duration_s, trial_row.c.timed),
    _mean(trial_row.c.cost_usd, trial_row.c.costed),
    _mean(trial_row.c.tokens, trial_row.c.tokened),
    trial_row.c.first_reason,
)
_SCORE = 6
_UNTOLD: ColumnElement[Any] = literal_column("NULL")


_Means = tuple[Sequence[int], Sequence[float]]


class _Summary(NamedTuple):
    """All scores of one grader; `weighed` when each counts in the main score."""

    n: int
    lowest: float
    highest: float
    binary: bool
    weighed: bool


@dataclass(frozen=True, slots=True)
class _Head:
    """Where the rows of an arm are.

    Attributes:
        number: The experiment's number.
        arm: The arm's name.
        version: The number of its dataset version; None when it is not in this store.
        stretch: First and last row id; None when too many other rows lie between.
        alone: No other row lies between.
    """

    number: int
    arm: str
    version: int | None
    stretch: tuple[int, int] | None
    alone: bool


def paired_rows(database: Database, a: tuple[str, str], b: tuple[str, str]) -> PairedRows:
    """Return the rows of two arms, joined by key; see `ExperimentStore`.

    Raises:
        NotFoundError: there is no such experiment.
    """
    with database.read() as connection:
        heads = [_head(connection, *side) for side in (a, b)]
        first, second = (_arm(connection, head) for head in heads)
        changed = _changed(connection, heads[0].version, heads[1].version)
        labels = _labels(connection, heads[1].version)
    return PairedRows(first, second, *_joined(first, second), changed, labels)


def _joined(
    a: ArmColumns, b: ArmColumns
) -> tuple[tuple[Sequence[int], Sequence[int]], Sequence[int], Sequence[int]]:
    """Return the places of the rows that both have, that only A has, and that only B has."""
    keys: list[Sequence[Hashable]] = [a.case_ids, b.case_ids]
    named = [*a.conditions[:1], *b.conditions[:1]]
    alike = all(arm.conditions.count(name) == arm.n for arm in (a, b) for name in named)
    if not alike:
        # Ids alone, where they will do, are found in half the time that pairs take.
        keys = [list(zip(arm.case_ids, arm.conditions, strict=True)) for arm in (a, b)]
    places = dict(zip(keys[1], range(b.n), strict=True))
    others = list(map(places.get, keys[0]))
    only_a = [place for place, other in enumerate(others) if other is None]
    in_a = [place for place, other in enumerate(others) if other is not None]
    in_b = [other for other in others if other is not None]
    only_b = []
    if len(in_b) < b.n:
        taken = set(in_b)
        only_b = [place for place in range(b.n) if place not in taken]
    return (in_a, in_b), only_a, only_b


def _head(connection: Connection, ref: str, arm: str) -> _Head:
    version = version_of_experiment()
    found = connection.execute(
        select(experiment.c.id, version.label("version")).where(experiment.c.ref == ref)
    ).one_or_none()
    if found is None:
        raise NotFoundError(f"there is no experiment {ref}")
    low, high, count = connection.execute(
        select(func.min(trial_row.c.id), func.max(trial_row.c.id), func.count()).where(
            trial_row.c.experiment_id == found.id, trial_row.c.arm == arm
        )
    ).one()
    dense = count > 0 and high - low < _DENSE * count
    alone = count > 0 and high - low + 1 == count
    return _Head(found.id, arm, found.version, (low, high) if dense else None, alone)


def _arm(connection: Connection, head: _Head) -> ArmColumns:
    # The driver's own tuples: at a hundred thousand rows SQLAlchemy's take as long as the reading.
    cursor = connection.connection.cursor()
    try:
        rows = _read(cursor, connection.dialect, select(*_told(connection, cursor, head)), head)
        columns: list[Any] = list(zip(*rows, strict=True)) or [()] * len(_COLUMNS)
        graders = _graders(connection, cursor, head, columns)
    finally:
        cursor.close()
    causes = _causes(connection, head)
    return ArmColumns(*columns[1:], graders=graders, causes=causes)  # type: ignore[misc]


def _told(connection: Connection, cursor: DBAPICursor, head: _Head) -> Sequence[ColumnElement[Any]]:
    """Return the columns to read; costs and tokens that no trial told take a fifth of the time."""
    most = select(func.max(trial_row.c.costed + trial_row.c.tokened))
    if _read(cursor, connection.dialect, most, head)[0][0]:
        return _COLUMNS
    return [
        _UNTOLD if place in (_COST, _TOKENS) else column for place, column in enumerate(_COLUMNS)
    ]


def _read(
    cursor: DBAPICursor, dialect: Dialect, statement: Select[Any], head: _Head
) -> Sequence[Any]:
    names = ["arm", "experiment"]
    values: list[Any] = [head.arm, head.number]
    narrowed = statement.where(trial_row.c.arm == bindparam("arm"))
    if head.stretch is None:
        narrowed = narrowed.where(trial_row.c.experiment_id == bindparam("experiment"))
    else:
        # A sum has no index, so the stretch is read in the order it lies in the file.
        narrowed = narrowed.where(
            trial_row.c.experiment_id + literal_column("0") == bindparam("experiment"),
            trial_row.c.id.between(bindparam("low"), bindparam("high")),
        )
        names += ["low", "high"]
        values += head.stretch
    return Prepared(narrowed, dialect, names).all(cursor, values)


def _graders(
    connection: Connection, cursor: DBAPICursor, head: _Head, columns: Sequence[Any]
) -> Mapping[str, GraderColumns]:
    named = select(grader_tally.c.position, grader_tally.c.grader).where(
        grader_tally.c.experiment_id == head.number
    )
    found = connection.execute(named.order_by(grader_tally.c.position)).all()
    names = [(row.position, row.grader) for row in found]
    summaries = {
        position: _summary(cursor, connection.dialect, head, position) for position, _ in names
    }
    if len(names) == 1 and summaries[names[0][0]].weighed:
        # The main score of a row is the score of its only grader.
        means: dict[int, _Means] = {names[0][0]: _there(columns[_SCORE])}
    else:
        places = {row: place for place, row in enumerate(columns[0])}
        means = {
            position: _placed(places, _means(cursor, connection.dialect, head, position))
            for position, _ in names
        }
    return {name: _columns(means[position], summaries[position]) for position, name in names}


def _there(scores: Sequence[float | None]) -> _Means:
    rows = [place for place, mean in enumerate(scores) if mean is not None]
    return rows, [mean for mean in scores if mean is not None]


def _columns(means: _Means, summary: _Summary) -> GraderColumns:
    return GraderColumns(*means, summary.n, summary.lowest, summary.highest, binary=summary.binary)


def _placed(places: Mapping[int, int], found: Sequence[tuple[int, float]]) -> _Means:
    return [places[row] for row, _ in found], [mean for _, mean in found]


def _summary(cursor: DBAPICursor, dialect: Dialect, head: _Head, grader: int) -> _Summary:
    value = score.c.value
    between = and_(value != literal_column("0"), value != literal_column("1"))
    n, lowest, highest, graded, lightest = _scores(
        cursor,
        dialect,
        head,
        grader,
        (
            func.count(value),
            func.min(value),
            func.max(value),
            func.sum(cast(between, Integer)),
            func.min(score.c.weight),
        ),
    )[0]
    return _Summary(n, lowest or 0.0, highest or 0.0, not graded, (lightest or 0.0) > 0.0)


def _means(
    cursor: DBAPICursor, dialect: Dialect, head: _Head, grader: int
) -> Sequence[tuple[int, float]]:
    row = score.c.trial_id.op("/")(literal_column(str(TRIALS_A_ROW)))
    return _scores(cursor, dialect, head, grader, (row, func.avg(score.c.value)), row)


def _scores(
    cursor: DBAPICursor, dialect: Dialect, head: _Head, grader: int, wanted: Any, by: Any = None
) -> Sequence[Any]:
    """Return what is wanted of one grader's scores, grouped or as a whole."""
    statement = select(*wanted).where(score.c.value.is_not(None), score.c.grader == bindparam("of"))
    names = ["of"]
    values: list[Any] = [grader]
    if head.stretch is None or not head.alone:
        first = trial_row.c.id * literal_column(str(TRIALS_A_ROW))
        last = first + literal_column(str(TRIALS_A_ROW - 1))
        statement = statement.select_from(
            trial_row.join(score, score.c.trial_id.between(first, last))
        ).where(
            trial_row.c.experiment_id == bindparam("experiment"),
            trial_row.c.arm == bindparam("arm"),
        )
        names, values = ["of", "experiment", "arm"], [grader, head.number, head.arm]
    else:
        low, high = head.stretch
        statement = statement.where(score.c.trial_id.between(bindparam("low"), bindparam("high")))
        names += ["low", "high"]
        values += [low * TRIALS_A_ROW, (high + 1) * TRIALS_A_ROW - 1]
    if by is not None:
        statement = statement.group_by(by)
    return Prepared(statement, dialect, names).all(cursor, values)


def _causes(connection: Connection, head: _Head) -> Mapping[Cause, int]:
    statement = (
        select(trial.c.cause, func.count())
        .join(trial_row, trial_row.c.id == trial.c.row_id)
        .where(
            trial.c.experiment_id == head.number,
            trial.c.cause.is_not(None),
            trial.c.verdict == Verdict.UNDECIDED.value,
            trial_row.c.arm == head.arm,
        )
        .group_by(trial.c.cause)
        .order_by(trial.c.cause)
    )
    return {Cause(cause): count for cause, count in connection.execute(statement)}


def _changed(connection: Connection, a: int | None, b: int | None) -> frozenset[CaseKey]:
    """Return the keys that have another content in one version than in the other."""
    if a is None or b is None or a == b:
        return frozenset()
    old, new = version_case.alias(), version_case.alias()
    statements = [
        select(side.c.case_id, side.c.condition, side.c.content_id).where(
            side.c.version_id == version
        )
        for side, version in ((old, a), (new, b))
    ]
    before, after = (
        {(case_id, condition): content for case_id, condition, content in connection.execute(found)}
        for found in statements
    )
    return frozenset(
        CaseKey(*key) for key, content in after.items() if before.get(key, content) != content
    )


def _labels(connection: Connection, version: int | None) -> Mapping[CaseKey, CaseLabels]:
    if version is None:
        return {}
    statement = select(
        version_case.c.case_id, version_case.c.condition, version_case.c.split, version_case.c.tags
    ).where(
        version_case.c.version_id == version,
        or_(version_case.c.split.is_not(None), version_case.c.tags.is_not(None)),
    )
    return {
        CaseKey(case_id, condition): CaseLabels(split, tuple(from_json(tags)) if tags else ())
        for case_id, condition, split, tags in connection.execute(statement)
    }
