"""`harness diff` as text."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.harness import HarnessDiffReport
from fairtrial.cli.render.lines import line

_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def render(report: HarnessDiffReport, console: Console) -> None:
    """Print what was compared, and the lines that differ."""
    line(console, report.said)
    for note in dict.fromkeys((*report.a.notes, *report.b.notes)):
        line(console, note, "yellow")
    if not report.changes:
        line(console, "They are the same.")
    for one in report.diff.split("\n")[:-1]:
        head = one.startswith(("--- ", "+++ ", "rename "))
        line(console, one, "bold" if head else _STYLES.get(one[:1], ""))
