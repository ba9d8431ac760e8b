"""`eval export` as text."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.eval_export import ExportReport
from fairtrial.cli.render.lines import block, line


def render(report: ExportReport, console: Console) -> None:
    """Print where each task lies, and what of it the other tool will not see."""
    for one in report.written:
        line(console, f"{report.suite}/{one.name}: {one.folder}")
        for lost in one.lost:
            line(console, f"  not in {report.to}: {lost}", "yellow")
    for name, why in report.problems:
        line(console, f"not written: {report.suite}/{name}", "red")
        block(console, why)
    for note in report.notes:
        line(console, note, "yellow")
