"""`cache prune` as text."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.cache import PrunedReport
from fairtrial.cli.render.cache_show import kept
from fairtrial.cli.render.lines import line
from fairtrial.cli.render.words import counted, quantity


def render(report: PrunedReport, console: Console) -> None:
    """Print what was forgotten, and what is left."""
    freed = quantity("freed_bytes", report.freed_bytes)
    forgotten = counted(report.n_forgotten, "answer")
    line(console, f"{forgotten} forgotten, {freed}; {kept(report.left)}")
