"""CSV: one line a trial, one column a grader, for spreadsheets and data frames."""

from __future__ import annotations

import csv
import json
import re
from typing import Any, TextIO

from fairtrial.interchange.experiment_exports.export import ExperimentExport, timestamp
from fairtrial.interchange.experiment_exports.visible_text import visible
from fairtrial.model.json import Json
from fairtrial.model.trial import Trial

_BEFORE = ("case_id", "condition", "arm", "trial", "verdict", "cause", "reason", "score")
_AFTER = (
    "duration_s",
    "cost_usd",
    "tokens_input",
    "tokens_output",
    "started_at",
    "tries",
    "seed",
    "output",
)
# What a spreadsheet would run when it opens the file. A plain number is safe.
_FORMULA = re.compile(r"[=@\t\r]|[-+](?![0-9.]+$)")


def write(export: ExperimentExport, stream: TextIO) -> None:
    """Write an experiment's trials; a grader's column is `score.NAME` and holds its value.

    The stream must not translate line ends (`newline=""`).
    """
    graders = [totals.grader for totals in export.graders]
    writer = csv.writer(stream)
    writer.writerow([*_BEFORE, *(cell(f"score.{name}") for name in graders), *_AFTER])
    for trial in export.trials():
        writer.writerow([cell(value) for value in _values(trial, graders)])


def _values(trial: Trial, graders: list[str]) -> list[Json]:
    scores = {score.grader: score.value for score in trial.scores}
    return [
        *trial.key,
        str(trial.verdict),
        trial.cause and str(trial.cause),
        trial.reason,
        trial.score,
        *(scores.get(name) for name in graders),
        trial.duration_s,
        trial.cost_usd,
        trial.tokens and trial.tokens.input,
        trial.tokens and trial.tokens.output,
        timestamp(trial.started_at),
        trial.tries,
        trial.seed,
        trial.output,
    ]


def cell(value: Json) -> Any:
    """Return a value as a cell: a text that a spreadsheet would run gets a `'` before it."""
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    guard = "'" if _FORMULA.match(text) else ""
    return guard + visible(text)
