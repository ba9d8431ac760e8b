"""`exp compare` as text."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.comparison import ComparisonReport
from fairtrial.cli.render.comparison import render_comparison


def render(report: ComparisonReport, console: Console) -> None:
    """Print the verdict, what is behind it, and the verdict again where a reader ends."""
    render_comparison(report, console)
