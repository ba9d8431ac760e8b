"""The SQL behind a list or a report, printed as JSON. Arguments: list or show, database."""

from __future__ import annotations

import json
import sqlite3
import sys
from typing import Any

SLOWEST = """
SELECT * FROM trial_row WHERE experiment_id = 1 AND duration_s >= 0
ORDER BY duration_s / ((passed + failed + undecided) + 0.0) DESC LIMIT 10
"""
SHOW = (
    "SELECT * FROM experiment JOIN tally ON experiment_id = id ORDER BY ref DESC LIMIT 1",
    "SELECT * FROM outcome_tally WHERE experiment_id = 1",
    "SELECT * FROM grader_tally WHERE experiment_id = 1",
    "SELECT count(*) FROM trial_row WHERE experiment_id = 1 AND failed > 0",
    "SELECT * FROM trial_row WHERE experiment_id = 1 AND failed > 0 ORDER BY case_id LIMIT 10",
    "SELECT * FROM trial_row WHERE experiment_id = 1 AND passed > 0 AND failed > 0 LIMIT 10",
    SLOWEST,
)
LIST = (
    "SELECT * FROM experiment JOIN tally ON experiment_id = id ORDER BY ref DESC LIMIT 21",
    "SELECT * FROM cause_tally WHERE experiment_id IN (SELECT id FROM experiment LIMIT 21)",
)


def answers(store: sqlite3.Connection, statements: tuple[str, ...]) -> list[Any]:
    return [store.execute(statement).fetchall() for statement in statements]


if __name__ == "__main__":
    database = sqlite3.connect(sys.argv[2])
    rows = answers(database, LIST if sys.argv[1] == "list" else SHOW)
    print(json.dumps(rows, default=repr))
