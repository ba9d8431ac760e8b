"""`cache show` as text."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.cache import CacheReport
from fairtrial.cli.render.lines import line
from fairtrial.cli.render.words import counted, quantity


def render(report: CacheReport, console: Console) -> None:
    """Print how many answers are kept, and their size."""
    line(console, kept(report))


def kept(report: CacheReport) -> str:
    """Return how many answers are kept, in words."""
    size = quantity("size_bytes", report.size_bytes)
    return f"{counted(report.n_answers, 'answer')} kept, {size}"
