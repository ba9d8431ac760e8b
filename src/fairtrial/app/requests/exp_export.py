"""Options of `exp export`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """Write an experiment, or the comparison of two, as junit, jsonl, csv, markdown or html.

    jsonl and csv have one line a trial, of a comparison one line a row; junit has one test case a
    row; markdown fits a pull-request comment; html is one file that needs no network. A comparison
    is what `exp compare --to` writes, which can also decide with --gate.
    """

    experiment: str = option(positional=True)
    """Experiment id, prefix or name; with CANDIDATE, the baseline, EXPERIMENT or EXPERIMENT:ARM"""
    to: Literal["junit", "jsonl", "csv", "markdown", "html"] = option(metavar="FORMAT")
    """junit, jsonl, csv, markdown or html"""
    candidate: str | None = option(None, positional=True)
    """Write the comparison of EXPERIMENT with this one"""
    output: Path | None = option(None, short="-o", metavar="FILE")
    """File to write (default: standard output)"""
    where: str | None = option(None, short="-w", metavar="FILTER")
    """Of one experiment as jsonl or csv: only trials of rows that this filter fits; see
    `fairtrial exp show --where`"""
    marker: str | None = option(None, metavar="NAME")
    """Of a comparison with --to markdown: the name in the hidden first line by which a later
    comment replaces this one (default: CANDIDATE's name)"""


EXAMPLES = (
    "fairtrial exp export smoke --to junit -o report.xml",
    "fairtrial exp export smoke --to jsonl | head -1",
    "fairtrial exp export smoke --to jsonl --where is:failed",
    "fairtrial exp export smoke --to html -o smoke.html",
    "fairtrial exp export base cand --to markdown -o comment.md",
)
