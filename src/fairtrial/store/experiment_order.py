"""In which order experiments are listed, a page at a time."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Float, Select, and_, cast, func, or_, select
from sqlalchemy import case as when

from fairtrial.store.tables import experiment, tally

_decided = tally.c.passed + tally.c.failed
# What has no value comes last, whichever way it is sorted.
_VALUES: Final[dict[str, tuple[ColumnElement[Any], bool]]] = {
    "name": (experiment.c.name, False),
    "cost": (when((tally.c.costed > 0, tally.c.cost_usd), else_=-1.0), True),
    "failed": (tally.c.failed, True),
    "pass_rate": (
        func.coalesce(cast(tally.c.passed, Float) / func.nullif(_decided, 0), 2.0),
        False,
    ),
}
"""By the order's name: its value, and whether the largest comes first."""
IN_PLACE: Final = ("newest", "oldest")
"""Orders in which experiments lie in an index."""
NUMBERS: Final = select(experiment.c.id).join(tally, tally.c.experiment_id == experiment.c.id)
"""Selects the numbers of experiments, to be put in an order and narrowed."""


def ordered(
    connection: Connection, statement: Select[Any], order: str, before: str | None
) -> Select[Any]:
    """Return a statement that selects experiments in an order, after the last one of a page.

    Args:
        connection: Where the last one's value is looked up.
        statement: Selects experiments with their tallies.
        order: `newest`, `oldest`, or a name of `_VALUES`; the newest first where it is the same.
        before: The id of the last one of the page before.
    """
    ref = experiment.c.ref
    if order in IN_PLACE:
        newest = order == "newest"
        if before is not None:
            statement = statement.where(ref < before if newest else ref > before)
        return statement.order_by(ref.desc() if newest else ref)
    value, falling = _VALUES[order]
    if before is not None:
        found = (
            select(value)
            .select_from(experiment.join(tally, tally.c.experiment_id == experiment.c.id))
            .where(ref == before)
        )
        last = connection.execute(found).scalar_one_or_none()
        beyond = value < last if falling else value > last
        statement = statement.where(or_(beyond, and_(value == last, ref < before)))
    return statement.order_by(value.desc() if falling else value, ref.desc())
