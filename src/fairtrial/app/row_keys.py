"""Rows as addresses and cursors name them: case, condition and arm, in JSON."""

from __future__ import annotations

import json

RowKey = tuple[str, str, str]


def row_key_of(text: str) -> RowKey | None:
    """Return the row that a text names; None when it names none."""
    try:
        match json.loads(text):
            case [str(case_id), str(condition), str(arm)]:
                f"{case_id}{condition}{arm}".encode()  # half a surrogate pair names nothing
                return case_id, condition, arm
    except (ValueError, RecursionError):
        pass
    return None


def key_text(key: RowKey) -> str:
    """Return the text that names a row."""
    return json.dumps(list(key), ensure_ascii=False, separators=(",", ":"))
