"""Taking the outputs out of an experiment, and whatever quotes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, literal, select, update

from fairtrial.model.json import Json
from fairtrial.store.blobs import Blobs
from fairtrial.store.codec import from_json, to_json
from fairtrial.store.database import Database
from fairtrial.store.tables import (
    TRIALS_A_ROW,
    case_content,
    score,
    setting,
    superseded,
    trial,
    trial_body,
    trial_row,
)

_AT_ONCE = 500
_REMOVED = "outputs-removed:"
_PENDING = "outputs-pending:"
# What statistics are made of stays; texts that a task or a judge wrote do not.
_KEPT = ("metrics", "tokens", "replay", "copied", "at_fault")


def removed_key(ref: Any) -> Any:
    """Return the key of the setting that says that an experiment has no outputs any more."""
    return _REMOVED + ref if isinstance(ref, str) else literal(_REMOVED) + ref


def strip_outputs(database: Database, blobs: Blobs, number: int, ref: str, now: int) -> None:
    """Remove the outputs of an experiment, a few hundred rows a transaction.

    One that was interrupted is finished by the next call: it is noted which files have to go
    before the records that name them do, and the mark comes last.

    Args:
        database: The database.
        blobs: The payloads of trials.
        number: The experiment's number.
        ref: Its id.
        now: Microseconds since 1970, when it is removed.

    Raises:
        StoreError: the store cannot be written, or a file cannot be removed.
    """
    with database.write() as connection:
        rows = list(
            connection.execute(
                select(trial_row.c.id).where(trial_row.c.experiment_id == number)
            ).scalars()
        )
        names = _named(connection, rows) | _pending(connection, ref)
        _set(connection, _PENDING + ref, to_json(sorted(names)).decode(), now)
    for at in range(0, len(rows), _AT_ONCE):
        with database.write() as connection:
            _strip(connection, blobs, rows[at : at + _AT_ONCE])
    # A file goes only when the records that named it are gone for good.
    with database.write() as connection:
        blobs.remove(names - _used(connection, names))
        connection.execute(delete(setting).where(setting.c.key == _PENDING + ref))
        _set(connection, _REMOVED + ref, "true", now)


def _set(connection: Connection, key: str, value: str, now: int) -> None:
    connection.execute(delete(setting).where(setting.c.key == key))
    connection.execute(setting.insert().values(key=key, value=value, set_at=now))


def _pending(connection: Connection, ref: str) -> set[str]:
    found = connection.execute(
        select(setting.c.value).where(setting.c.key == _PENDING + ref)
    ).scalar_one_or_none()
    return set() if found is None else set(from_json(found))


def _trials_of(column: ColumnElement[int], row: int) -> ColumnElement[bool]:
    return column.between(row * TRIALS_A_ROW, (row + 1) * TRIALS_A_ROW - 1)


def _named(connection: Connection, rows: Sequence[int]) -> set[str]:
    """Return the files that hold payloads of rows."""
    names: set[str] = set()
    for row in rows:
        for table, own in (
            (trial_body, _trials_of(trial_body.c.trial_id, row)),
            (superseded, superseded.c.row_id == row),
        ):
            found = connection.execute(select(table.c.blob).where(own, table.c.blob.is_not(None)))
            names |= set(found.scalars())
    return names


def _strip(connection: Connection, blobs: Blobs, rows: Sequence[int]) -> None:
    """Empty the bodies of rows' trials, and forget every reason."""
    for row in rows:
        own = _trials_of(trial_body.c.trial_id, row)
        for found in connection.execute(select(trial_body).where(own)).all():
            body = _stripped(from_json(blobs.unpack(found.inline, found.blob)))
            connection.execute(
                update(trial_body)
                .where(trial_body.c.trial_id == found.trial_id)
                .values(inline=to_json(body), blob=None)
            )
        marks = _trials_of(score.c.trial_id, row)
        connection.execute(update(score).where(marks).values(reason=None))
    connection.execute(
        update(superseded)
        .where(superseded.c.row_id.in_(rows))
        .values(record="{}", inline=to_json({"output": None}), blob=None)
    )
    connection.execute(update(trial).where(trial.c.row_id.in_(rows)).values(reason=None))
    connection.execute(update(trial_row).where(trial_row.c.id.in_(rows)).values(first_reason=None))


def _stripped(body: dict[str, Any]) -> dict[str, Json]:
    kept: dict[str, Json] = {"output": None}
    kept |= {name: body[name] for name in _KEPT if name in body}
    if "process" in body:
        kept["process"] = {**body["process"], "stderr_tail": ""}
    if "attempts" in body:
        kept["attempts"] = [
            {**one, "output": None, "feedback": None, "reason": None} for one in body["attempts"]
        ]
    if "reruns" in body:
        kept["reruns"] = [{**one, "reason": None} for one in body["reruns"]]
    if "judged" in body:
        kept["judged"] = [{**one, "detail": None} for one in body["judged"]]
    return kept


def _used(connection: Connection, names: set[str]) -> set[str]:
    """Return those of some files that something still names."""
    if not names:
        return set()
    used: set[str] = set()
    for table in (trial_body, superseded, case_content):
        found = connection.execute(select(table.c.blob).where(table.c.blob.is_not(None)))
        used |= names.intersection(found.scalars())
    return used
