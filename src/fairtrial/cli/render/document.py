"""A document that was written to a file, as text."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.document import DocumentReport
from fairtrial.cli.render.lines import line


def render(report: DocumentReport, console: Console) -> None:
    """Say where the document is."""
    line(console, f"wrote {report.path}")
