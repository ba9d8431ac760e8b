"""CSV: one line a row, for spreadsheets and data frames."""

from __future__ import annotations

import csv
from typing import TextIO

from fairtrial.interchange.comparison_exports.export import ComparisonExport, row_json
from fairtrial.interchange.experiment_exports.csv import cell

COLUMNS = (
    "case_id",
    "condition",
    "change",
    "a_passed",
    "a_decided",
    "a_undecided",
    "a_score",
    "b_passed",
    "b_decided",
    "b_undecided",
    "b_score",
    "within_noise",
    "reason",
)


def write(export: ComparisonExport, stream: TextIO) -> None:
    """Write a comparison's rows; the stream must not translate line ends (`newline=""`)."""
    writer = csv.writer(stream)
    writer.writerow(COLUMNS)
    for row in export.rows():
        facts = row_json(row)
        writer.writerow([cell(facts[name]) for name in COLUMNS])
