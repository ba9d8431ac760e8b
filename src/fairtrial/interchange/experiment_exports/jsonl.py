"""JSONL: one object a trial, with everything that is known of it."""

from __future__ import annotations

import json
from typing import TextIO

from fairtrial.interchange.experiment_exports.export import ExperimentExport, trial_json


def write(export: ExperimentExport, stream: TextIO) -> None:
    """Write an experiment's trials, one a line."""
    for trial in export.trials():
        value = trial_json(trial)
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        try:
            text.encode()
        except UnicodeEncodeError:  # half of a surrogate pair: only an escape can carry it
            text = json.dumps(value, allow_nan=False)
        stream.write(text + "\n")
