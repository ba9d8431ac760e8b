"""JSON Lines: one object a row, every row of both experiments."""

from __future__ import annotations

import json
from typing import TextIO

from fairtrial.interchange.comparison_exports.export import ComparisonExport, row_json


def write(export: ComparisonExport, stream: TextIO) -> None:
    """Write a comparison's rows, one a line."""
    for row in export.rows():
        value = row_json(row)
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        try:
            text.encode()
        except UnicodeEncodeError:  # half of a surrogate pair: only an escape can carry it
            text = json.dumps(value, allow_nan=False)
        stream.write(text + "\n")
