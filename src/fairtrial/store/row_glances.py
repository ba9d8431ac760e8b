"""A page of rows with what a table shows of them; payloads in files of their own stay shut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection, func, select

from fairtrial.model.json import Json
from fairtrial.model.row import RowGlance
from fairtrial.store.blobs import Blobs
from fairtrial.store.case_lookup import named
from fairtrial.store.codec import from_json
from fairtrial.store.database import Database
from fairtrial.store.flips import version_of_experiment
from fairtrial.store.reading import row_of
from fairtrial.store.tables import (
    TRIALS_A_ROW,
    case_content,
    experiment,
    grader_tally,
    score,
    trial,
    trial_body,
    trial_row,
    version_case,
)

_OF_ROW = trial.c.id.between(
    trial_row.c.id * TRIALS_A_ROW, trial_row.c.id * TRIALS_A_ROW + (TRIALS_A_ROW - 1)
)
_LONG: Final = 64 * 1024
"""Bytes of a payload that a table does not look into; little of it may stand for very much."""
_Payload = tuple[Json, bool]
_NOTHING: _Payload = (None, False)


def row_glances(
    database: Database, blobs: Blobs, number: int, keys: Sequence[tuple[str, str, str]]
) -> list[RowGlance]:
    """Return the rows with these keys (case, condition, arm), in their order; absent ones not."""
    if not keys:
        return []
    with database.read() as connection:
        found = {
            (row.case_id, row.condition, row.arm): row
            for row in connection.execute(
                select(trial_row).where(
                    trial_row.c.experiment_id == number,
                    # Whole keys would be looked for in every row: no index has such a condition.
                    trial_row.c.case_id.in_({case_id for case_id, _, _ in keys}),
                )
            )
        }
        found = {key: found[key] for key in keys if key in found}
        ids = [row.id for row in found.values()]
        scores = _scores(connection, number, ids)
        outputs = _outputs(connection, blobs, ids)
        inputs = _inputs(connection, blobs, number, {key[:2] for key in found})
    glances = []
    for key in keys:
        row = found.get(key)
        if row is None:
            continue
        given, long_input = inputs.get(key[:2], _NOTHING)
        output, long_output = outputs.get(row.id, _NOTHING)
        means = scores.get(row.id, {})
        glances.append(RowGlance(row_of(row), means, given, output, long_input, long_output))
    return glances


def _scores(
    connection: Connection, number: int, ids: Sequence[int]
) -> Mapping[int, Mapping[str, float]]:
    statement = (
        select(trial_row.c.id, grader_tally.c.grader, func.avg(score.c.value))
        .select_from(
            trial_row.join(trial, _OF_ROW)
            .join(score, score.c.trial_id == trial.c.id)
            .join(
                grader_tally,
                (grader_tally.c.experiment_id == number)
                & (grader_tally.c.position == score.c.grader),
            )
        )
        .where(trial_row.c.id.in_(ids), score.c.value.is_not(None))
        .group_by(trial_row.c.id, grader_tally.c.grader)
    )
    found: dict[int, dict[str, float]] = {}
    for row_id, grader, mean in connection.execute(statement):
        found.setdefault(row_id, {})[grader] = mean
    return found


def _outputs(connection: Connection, blobs: Blobs, ids: Sequence[int]) -> dict[int, _Payload]:
    first = (
        select(trial_row.c.id.label("row_id"), func.min(trial.c.id).label("trial_id"))
        .select_from(trial_row.join(trial, _OF_ROW))
        .where(trial_row.c.id.in_(ids))
        .group_by(trial_row.c.id)
        .subquery()
    )
    statement = select(first.c.row_id, trial_body.c.inline, trial_body.c.blob).join(
        trial_body, trial_body.c.trial_id == first.c.trial_id
    )
    found: dict[int, _Payload] = {}
    for row_id, inline, blob in connection.execute(statement):
        body, is_long = _small(blobs, inline, blob)
        found[row_id] = (body.get("output") if isinstance(body, dict) else None, is_long)
    return found


def _inputs(
    connection: Connection, blobs: Blobs, number: int, keys: set[tuple[str, str]]
) -> dict[tuple[str, str], _Payload]:
    version = connection.execute(
        select(version_of_experiment()).where(experiment.c.id == number)
    ).scalar_one_or_none()
    if version is None:  # it is not in this store
        return {}
    statement = (
        select(
            version_case.c.case_id,
            version_case.c.condition,
            case_content.c.inline,
            case_content.c.blob,
        )
        .join(case_content, case_content.c.id == version_case.c.content_id)
        .where(named(version, {case_id for case_id, _ in keys}))
    )
    found: dict[tuple[str, str], _Payload] = {}
    for case_id, condition, inline, blob in connection.execute(statement):
        content, is_long = _small(blobs, inline, blob)
        value = content.get("input") if isinstance(content, dict) else None
        found[case_id, condition] = (value, is_long)
    return found


def _small(blobs: Blobs, inline: bytes | None, blob: str | None) -> tuple[Any, bool]:
    """Return a payload and whether it is long; a long one is not read."""
    if blob is not None or inline is None or blobs.size_of(inline) > _LONG:
        return None, True
    return from_json(blobs.unpack(inline, None)), False
