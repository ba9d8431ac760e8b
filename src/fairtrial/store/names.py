"""Names that are on record, for completion: read without what a command needs, and at once."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

from fairtrial.store.glance import DATABASE_FILE

_MOST: Final = 200
_PATIENCE_S: Final = 0.2

_EXPERIMENT_NAMES: Final = "SELECT name FROM experiment GROUP BY name ORDER BY max(ref) DESC"
_OF_ROWS: Final = (
    "SELECT DISTINCT {column} FROM trial_row WHERE experiment_id = "
    "(SELECT max(id) FROM experiment WHERE name = :scope OR ref = :scope)"
)
_QUERIES: Final[Mapping[str, str]] = {
    "experiment": _EXPERIMENT_NAMES,
    "experiment id": "SELECT ref FROM experiment ORDER BY ref DESC",
    "dataset": "SELECT name FROM dataset ORDER BY name",
    "session": "SELECT ref FROM session ORDER BY sorted_at DESC",
    "call": "SELECT ref FROM model_call ORDER BY ref DESC",
    "flag": "SELECT DISTINCT name FROM session_flag ORDER BY name",
    "suite": "SELECT DISTINCT name FROM suite ORDER BY name",
    "experiments.name": _EXPERIMENT_NAMES,
    "experiments.dataset": "SELECT name FROM dataset ORDER BY name",
    "experiments.grader": "SELECT DISTINCT grader FROM grader_tally ORDER BY grader",
    "experiments.score": "SELECT DISTINCT grader FROM grader_tally ORDER BY grader",
    "experiments.series": "SELECT DISTINCT series FROM experiment WHERE series IS NOT NULL",
    "experiments.arm": "SELECT DISTINCT value FROM experiment, json_each(experiment.arms)",
    "experiments.environment": (
        "SELECT DISTINCT json_extract(provenance, '$.environment') FROM experiment"
    ),
    "experiments.branch": (
        "SELECT DISTINCT json_extract(provenance, '$.git_branch') FROM experiment"
    ),
    "rows.score": (
        "SELECT grader FROM grader_tally WHERE experiment_id = "
        "(SELECT max(id) FROM experiment WHERE name = :scope OR ref = :scope) ORDER BY position"
    ),
    "rows.condition": _OF_ROWS.format(column="condition"),
    "rows.arm": _OF_ROWS.format(column="arm"),
    "rows.case": _OF_ROWS.format(column="case_id"),
    "rows.tag": (
        "SELECT DISTINCT value FROM version_case, json_each(version_case.tags) "
        "WHERE tags IS NOT NULL AND version_id IN (SELECT v.id FROM dataset_version v "
        "JOIN dataset d ON d.id = v.dataset_id JOIN experiment e ON e.dataset = d.name "
        "AND e.dataset_number = v.number WHERE e.name = :scope OR e.ref = :scope)"
    ),
    "calls.model": "SELECT DISTINCT model FROM model_call",
    "calls.agent": "SELECT DISTINCT agent FROM model_call",
    "calls.session": "SELECT session FROM model_call GROUP BY session ORDER BY max(ref) DESC",
    "calls.experiment": "SELECT DISTINCT experiment FROM model_call",
    "sessions.agent": "SELECT DISTINCT agent FROM session",
    "sessions.repo": "SELECT repo FROM session GROUP BY repo ORDER BY max(sorted_at) DESC",
    "sessions.branch": "SELECT branch FROM session GROUP BY branch ORDER BY max(sorted_at) DESC",
    "sessions.flag": "SELECT DISTINCT name FROM session_flag ORDER BY name",
    "sessions.model": "SELECT DISTINCT value FROM session, json_each(session.models)",
}
_TWINS: Final = {"rows.delta": "rows.score"}


def names(home: Path, kind: str, scope: str | None = None) -> tuple[str, ...]:
    """Return names of a kind, likeliest first; none when the store is not there or is busy.

    Args:
        home: Folder of the store.
        kind: `experiment`, `dataset`, `session`, …, or `VOCABULARY.FIELD` for the values that a
            filter may compare with (of a keyed field: its keys).
        scope: The experiment that rows are of: its id or its name.
    """
    query = _QUERIES.get(_TWINS.get(kind, kind))
    path = home / DATABASE_FILE
    if query is None or not path.exists():
        return ()
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            connection.execute(f"PRAGMA busy_timeout = {int(_PATIENCE_S * 1000)}")
            found = connection.execute(f"{query} LIMIT {_MOST}", {"scope": scope})
            return tuple(str(name) for (name,) in found if name is not None and name != "")
    except sqlite3.Error:
        return ()
