"""How many rows flipped between two arms, counted by the database: a list needs no more."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, Integer, cast, func, select
from sqlalchemy.sql.selectable import ScalarSelect

from fairtrial.model.comparison import FlipCounts
from fairtrial.model.errors import NotFoundError
from fairtrial.store.database import Database
from fairtrial.store.tables import (
    dataset,
    dataset_version,
    experiment,
    trial_row,
    version_case,
)

_A = trial_row.alias("a")
_B = trial_row.alias("b")


def flip_counts(database: Database, a: tuple[str, str], b: tuple[str, str]) -> FlipCounts:
    """Return how many shared rows were fixed and broken; see `ExperimentStore`.

    Raises:
        NotFoundError: there is no such experiment.
    """
    with database.read() as connection:
        (first, old), (second, new) = (_head(connection, ref) for ref, _ in (a, b))
        # Solved is more than half of the decided trials.
        solved_a, solved_b = _A.c.passed > _A.c.failed, _B.c.passed > _B.c.failed
        statement = (
            select(func.count(), _number(solved_b & ~solved_a), _number(solved_a & ~solved_b))
            .select_from(_B)
            .join(
                _A,
                (_A.c.experiment_id == first)
                & (_A.c.arm == a[1])
                & (_A.c.case_id == _B.c.case_id)
                & (_A.c.condition == _B.c.condition),
            )
            .where(
                _B.c.experiment_id == second,
                _B.c.arm == b[1],
                _A.c.passed + _A.c.failed > 0,
                _B.c.passed + _B.c.failed > 0,
            )
        )
        if old is not None and new is not None and old != new:
            statement = statement.where(~_changed(old, new))
        compared, fixed, broken = connection.execute(statement).one()
    return FlipCounts(fixed or 0, broken or 0, compared)


def _number(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.sum(cast(condition, Integer))


def _head(connection: Connection, ref: str) -> tuple[int, int | None]:
    """Return the number of an experiment and that of its dataset version, if that is here."""
    found = connection.execute(
        select(experiment.c.id, version_of_experiment()).where(experiment.c.ref == ref)
    ).one_or_none()
    if found is None:
        raise NotFoundError(f"there is no experiment {ref}")
    return found[0], found[1]


def version_of_experiment() -> ScalarSelect[int]:
    """Select the number of an experiment's dataset version; null when it is not in this store."""
    return (
        select(dataset_version.c.id)
        .join(dataset, dataset.c.id == dataset_version.c.dataset_id)
        .where(
            dataset.c.name == experiment.c.dataset,
            dataset_version.c.number == experiment.c.dataset_number,
            dataset_version.c.digest == experiment.c.dataset_digest,
        )
        .scalar_subquery()
    )


def _changed(old: int, new: int) -> ColumnElement[bool]:
    """Return whether a row's case has another content in one version than in the other."""
    before, after = version_case.alias(), version_case.alias()
    changed = (
        select(after.c.case_id, after.c.condition)
        .join(
            before,
            (before.c.version_id == old)
            & (before.c.case_id == after.c.case_id)
            & (before.c.condition == after.c.condition),
        )
        .where(after.c.version_id == new, before.c.content_id != after.c.content_id)
        .cte("changed")
    )
    return (
        select(changed.c.case_id)
        .where(changed.c.case_id == _B.c.case_id, changed.c.condition == _B.c.condition)
        .exists()
    )
