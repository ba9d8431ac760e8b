"""Reports and errors as text or JSON."""

from __future__ import annotations

import importlib
import io
import json
import os
import shutil
import sys
from collections.abc import Sequence
from typing import Any

from fairtrial.app.reports.accompanied import AccompaniedReport
from fairtrial.app.reports.document import DocumentReport
from fairtrial.app.verbs import Verb
from fairtrial.cli import streams
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
        streams.write_document(lambda out: out.write(json_text(report)))
    elif (streamed := _streamed(report)) is not None:
        streams.write_document(streamed.write)
    else:
        streams.write_text(text_of(verb, report))


def _streamed(report: Any) -> DocumentReport | None:
    """Return the document that is printed as it is made; None when there is none."""
    if isinstance(report, AccompaniedReport):
        return report.streamed
    return report if isinstance(report, DocumentReport) and report.path is None else None


def text_of(verb: Verb, report: Any) -> str:
    """Return a report as text for a terminal, with colours if it takes them.

    The module of a verb's text may have a function `plain`, for what needs no layout.
    """
    name = "document" if isinstance(report, DocumentReport) else verb.module
    module = importlib.import_module(f"fairtrial.cli.render.{name}")
    plain = getattr(module, "plain", None)
    text: str | None = None if plain is None else plain(report)
    if text is not None:
        return text
    from rich.console import Console  # noqa: PLC0415  # takes 50 ms; JSON does without

    from fairtrial.cli.render.document import render as render_document  # noqa: PLC0415  # as above

    files: Sequence[DocumentReport] = ()
    if isinstance(report, AccompaniedReport):
        report, files = report.report, report.documents
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
    module.render(report, console)
    for file in files:
        render_document(file, console)
    return buffer.getvalue()
