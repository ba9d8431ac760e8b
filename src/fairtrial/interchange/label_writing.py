"""Writes human labels as `label_files` reads them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NamedTuple, TextIO


class WrittenLabel(NamedTuple):
    """A label of one row.

    Attributes:
        case_id: The case.
        condition: Its condition.
        value: `pass`, `fail` or `skip`.
        note: The person's own words; None without any.
    """

    case_id: str
    condition: str
    value: str
    note: str | None


def write_human_labels(labels: Iterable[WrittenLabel], stream: TextIO) -> None:
    """Write labels as JSONL, one a line."""
    for label in labels:
        record = {"caseId": label.case_id, "condition": label.condition, "value": label.value}
        if label.note is not None:
            record["note"] = label.note
        stream.write(json.dumps(record, ensure_ascii=False) + "\n")
