"""Options of `eval report`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """Show a run of eval tasks again, or write it as markdown or html.

    The report is made from what is stored: nothing is run. The markdown fits a comment on a pull
    request, the html is one file that needs no network.
    """

    run: str | None = option(None, positional=True, metavar="EXPERIMENT|SUITE")
    """Experiment id, prefix or name, or a suite, of which the newest run is shown (default: the
    newest run of eval tasks)"""
    to: Literal["text", "markdown", "html"] | None = option(None, metavar="FORMAT")
    """text, markdown or html (default: by the ending of --output, else text)"""
    output: Path | None = option(None, short="-o", metavar="FILE")
    """File to write, of markdown or html (default: standard output)"""


EXAMPLES = (
    "fairtrial eval report",
    "fairtrial eval report failures --to markdown",
    "fairtrial eval report exp_01m8mj -o report.html",
)
