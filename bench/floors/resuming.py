"""What is recorded is read, what is missing is run and written. Argument: the database."""

from __future__ import annotations

import json
import sqlite3
import sys

CASES = """
SELECT case_id, inline FROM version_case JOIN case_content ON case_content.id = content_id
WHERE case_id = ?
"""


def main(store: sqlite3.Connection) -> int:
    done = {
        case
        for (case,) in store.execute(
            "SELECT case_id FROM trial_row JOIN trial ON row_id = trial_row.id"
        )
    }
    planned = [
        case for (case,) in store.execute("SELECT case_id FROM version_case ORDER BY position")
    ]
    missing = [case for case in planned if case not in done]
    store.execute("CREATE TABLE resumed (case_id TEXT PRIMARY KEY, output TEXT, passed INTEGER)")
    with store:
        for case_id in missing:
            content = json.loads(store.execute(CASES, (case_id,)).fetchone()[1])
            output = str(content["input"]["n"] * 2)
            passed = output == content["expected"]
            store.execute("INSERT INTO resumed VALUES (?, ?, ?)", (case_id, output, passed))
    return len(missing)


if __name__ == "__main__":
    print(main(sqlite3.connect(sys.argv[1])))
