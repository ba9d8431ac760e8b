"""`sessions rm` as text."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.sessions import RemovedSessionsReport
from fairtrial.cli.render.lines import line
from fairtrial.cli.render.words import counted, quantity


def render(report: RemovedSessionsReport, console: Console) -> None:
    """Say what was removed."""
    freed = quantity("freed_bytes", report.freed_bytes)
    line(console, f"Removed {counted(len(report.sessions), 'session')}, {freed} of events")
    for snapshot, task in report.kept_snapshots.items():
        line(console, f"{snapshot} stays: the eval task {task} begins with it (fairtrial eval rm)")
