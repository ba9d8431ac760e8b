"""`doctor` as text."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.doctor import DoctorReport
from fairtrial.cli.render.lines import line

MARKS = {True: "✓", False: "✗", None: "·"}


def render(report: DoctorReport, console: Console) -> None:
    """Print what was found, and a fix below each problem."""
    for check in report.checks:
        style = "red" if check.ok is False else ""
        line(console, f"{MARKS[check.ok]} {check.name:<10} {check.found}", style)
        if check.ok is False and check.fix:
            line(console, f"  {'':<10} fix: {check.fix}")
