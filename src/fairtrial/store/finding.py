"""From what a user typed to the one experiment or dataset that is meant."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from sqlalchemy import Connection, select

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
    fitting = _with_prefix(connection, ref) if len(ref) >= _SHORTEST_PREFIX else []
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        more = " and more" if len(fitting) > _SHOWN else ""
        raise NotFoundError(
            f"{ref} fits several experiments",
            why=f"{', '.join(fitting[:_SHOWN])}{more}",
            fix="give more of the id",
        )
    names = connection.execute(
        select(experiment.c.name).order_by(experiment.c.ref.desc()).limit(_COMPARED)
    ).scalars()
    raise not_found("experiment", ref, list(dict.fromkeys(names)), "`fairtrial exp list`")


def _with_prefix(connection: Connection, ref: str) -> list[str]:
    """Return up to one more id than is shown; ULIDs are in capitals, users need not be."""
    start = ref if ref.startswith(_ID_PREFIX) else _ID_PREFIX + ref
    capitals = _ID_PREFIX + start.removeprefix(_ID_PREFIX).upper()
    for prefix in dict.fromkeys((start, capitals)):
        statement = (
            select(experiment.c.ref)
            .where(experiment.c.ref >= prefix, experiment.c.ref < prefix + "\U0010ffff")
            .order_by(experiment.c.ref.desc())
            .limit(_SHOWN + 1)
        )
        found = [str(ref) for ref in connection.execute(statement).scalars()]
        if found:
            return found
    return []


def not_found(kind: str, ref: str, names: Sequence[str], listing: str) -> NotFoundError:
    """Return the error of a name that does not exist, with the nearest ones that do."""
    nearest = get_close_matches(ref, names, n=3)
    if nearest:
        return NotFoundError(
            f"there is no {kind} {ref}",
            fix=f"did you mean {' or '.join(nearest)}? {listing} shows all",
        )
    return NotFoundError(f"there is no {kind} {ref}", fix=f"{listing} shows all")
