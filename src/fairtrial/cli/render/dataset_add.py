"""`dataset add` as text."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.dataset import AddedReport
from fairtrial.cli.render.lines import line
from fairtrial.cli.render.words import counted


def render(report: AddedReport, console: Console) -> None:
    """Print which version the cases are."""
    version = report.version
    cases = counted(version.n_cases, "case")
    if report.is_new:
        line(console, f"{version.ref}: {cases}, hash {version.digest[:12]}")
    else:
        line(console, f"{version.ref} has exactly these {cases} already; no new version")
