"""Options of `exp labels`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """Write what people said of an experiment's rows, as labels.

    Rows are sent to review on the page of the experiment (`fairtrial serve`), and a person says
    passed, failed or unclear. The file is what `grader calibrate --labels` and `exp compare
    --labels-a` and `--labels-b` read: JSONL of {"caseId","condition","value","note"?}, the last
    word on each row.
    """

    experiment: str = option(positional=True)
    """EXPERIMENT, or EXPERIMENT:ARM of one with several arms"""
    output: Path | None = option(None, short="-o", metavar="FILE")
    """File to write (default: standard output)"""


EXAMPLES = (
    "fairtrial exp labels smoke -o people.jsonl",
    "fairtrial exp labels prompts:terse -o terse.jsonl",
)
