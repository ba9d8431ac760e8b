"""`harness save` as text."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.harness import HarnessSavedReport
from fairtrial.cli.render.lines import line
from fairtrial.cli.render.words import counted


def render(report: HarnessSavedReport, console: Console) -> None:
    """Print what was saved, and where."""
    harness = report.harness
    line(console, f"{report.path}: {harness.label}, {counted(len(harness.files), 'file')}")
    for note in harness.notes:
        line(console, note, "yellow")
