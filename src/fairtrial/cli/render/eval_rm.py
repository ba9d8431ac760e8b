"""`eval rm` as text."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.eval_tasks import RemovedTasksReport
from fairtrial.cli.render.lines import line
from fairtrial.cli.render.words import counted


def render(report: RemovedTasksReport, console: Console) -> None:
    """Say what was taken off and what was removed."""
    line(console, f"Taken off: {', '.join(report.tasks)}")
    for folder in report.folders:
        line(console, f"  removed {folder}")
    if report.snapshots:
        line(
            console, f"  removed {counted(len(report.snapshots), 'snapshot')}: no session had them"
        )
