"""Reports and errors as text or JSON."""

from __future__ import annotations

import importlib
import io
import json
import os
import shutil
import sys
from typing import Any

from fairtrial.app.reports.document import DocumentReport
from fairtrial.app.verbs import Verb
from fairtrial.model.errors import FairtrialError


def json_text(report: Any) -> str:
    """Return a report as one JSON object and a line end."""
    return json.dumps(report.json(), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def error_json(error: FairtrialError) -> str:
    """Return an error as one JSON object and a line end."""
    body = {
        "schema": "fairtrial.error/1",
        "error": {"what": error.what, "where": error.where, "why": error.why, "fix": error.fix},
        "exit_code": error.exit_code,
    }
    return json.dumps(body, ensure_ascii=False, indent=2) + "\n"


def show(verb: Verb, report: Any, *, as_json: bool) -> None:
    """Print a report on standard output.

    A document without a file is streamed as it is made: it may be larger than memory.
    """
    if as_json:
        sys.stdout.write(json_text(report))
    elif isinstance(report, DocumentReport) and report.path is None:
        report.write(sys.stdout)
    else:
        sys.stdout.write(text_of(verb, report))
    sys.stdout.flush()


def text_of(verb: Verb, report: Any) -> str:
    """Return a report as text for a terminal, with colours if it takes them."""
    from rich.console import Console  # noqa: PLC0415  # takes 50 ms; JSON does without

    module = "document" if isinstance(report, DocumentReport) else verb.module
    render = importlib.import_module(f"fairtrial.cli.render.{module}").render
    is_terminal = sys.stdout.isatty()
    buffer = io.StringIO()
    console = Console(
        file=buffer,
        force_terminal=is_terminal,
        no_color="NO_COLOR" in os.environ,
        width=min(shutil.get_terminal_size((100, 24)).columns, 120),
        highlight=False,
        emoji=False,
        markup=False,
    )
    render(report, console)
    return buffer.getvalue()
