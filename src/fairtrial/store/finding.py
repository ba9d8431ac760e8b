"""From what a user typed to the one experiment or dataset that is meant."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from sqlalchemy import Column, Connection, select

from fairtrial.model.errors import NotFoundError
from fairtrial.store.tables import experiment

_ID_PREFIX = "exp_"
_SHORTEST_PREFIX = 6
# Candidates that an error lists.
_SHOWN = 5
# Names compared with what was typed, newest first; more would take longer than a command.
_COMPARED = 1_000


def find_experiment(connection: Connection, ref: str) -> str:
    """Return the id that an id, a name (its newest) or a unique prefix of an id means.

    Raises:
        NotFoundError: nothing fits, or several ids do.
    """
    for column in (experiment.c.ref, experiment.c.name):
        statement = select(experiment.c.ref).where(column == ref)
        exact = connection.execute(
            statement.order_by(experiment.c.ref.desc()).limit(1)
        ).scalar_one_or_none()
        if exact is not None:
            return str(exact)
    fitting = with_id_prefix(connection, experiment.c.ref, _ID_PREFIX, ref)
    if fitting:
        return the_one(ref, fitting, "experiments")
    names = connection.execute(
        select(experiment.c.name).order_by(experiment.c.ref.desc()).limit(_COMPARED)
    ).scalars()
    raise not_found("experiment", ref, list(dict.fromkeys(names)), "`fairtrial exp list`")


def with_id_prefix(
    connection: Connection, column: Column[Any], id_prefix: str, ref: str
) -> list[str]:
    """Return up to one more id than an error shows that begins with what a user typed.

    ULIDs are in capitals, users need not be. What is too short to mean one fits none.
    """
    if len(ref) < _SHORTEST_PREFIX:
        return []
    start = ref if ref.startswith(id_prefix) else id_prefix + ref
    capitals = id_prefix + start.removeprefix(id_prefix).upper()
    for prefix in dict.fromkeys((start, capitals)):
        found = with_prefix(connection, column, prefix)
        if found:
            return found
    return []


def with_prefix(connection: Connection, column: Column[Any], prefix: str) -> list[str]:
    """Return up to one more value than an error shows that begins with a prefix."""
    statement = (
        select(column)
        .distinct()
        .where(column >= prefix, column < prefix + "\U0010ffff")
        .order_by(column.desc())
        .limit(_SHOWN + 1)
    )
    return [str(found) for found in connection.execute(statement).scalars()]


def the_one(ref: str, fitting: Sequence[str], kinds: str) -> str:
    """Return the only id that fits.

    Raises:
        NotFoundError: several do.
    """
    if len(fitting) == 1:
        return fitting[0]
    more = " and more" if len(fitting) > _SHOWN else ""
    raise NotFoundError(
        f"{ref} fits several {kinds}",
        why=f"{', '.join(fitting[:_SHOWN])}{more}",
        fix="give more of the id",
    )


def not_found(kind: str, ref: str, names: Sequence[str], listing: str) -> NotFoundError:
    """Return the error of a name that does not exist, with the nearest ones that do."""
    nearest = get_close_matches(ref, names, n=3)
    if nearest:
        return NotFoundError(
            f"there is no {kind} {ref}",
            fix=f"did you mean {' or '.join(nearest)}? {listing} shows all",
        )
    return NotFoundError(f"there is no {kind} {ref}", fix=f"{listing} shows all")
