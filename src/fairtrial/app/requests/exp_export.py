"""Options of `exp export`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """Write an experiment as junit, jsonl, csv, markdown or html.

    jsonl and csv have one line a trial, junit one test case a row; markdown fits a pull-request
    comment; html is one file that needs no network.
    """

    experiment: str = option(positional=True)
    """Experiment id, prefix or name"""
    to: Literal["junit", "jsonl", "csv", "markdown", "html"] = option(metavar="FORMAT")
    """junit, jsonl, csv, markdown or html"""
    output: Path | None = option(None, short="-o", metavar="FILE")
    """File to write (default: standard output)"""


EXAMPLES = (
    "fairtrial exp export smoke --to junit -o report.xml",
    "fairtrial exp export smoke --to jsonl | head -1",
    "fairtrial exp export smoke --to html -o smoke.html",
)
