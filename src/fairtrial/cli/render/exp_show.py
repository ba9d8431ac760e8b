"""`exp show` as text."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.experiment import ExperimentReport
from fairtrial.cli.render.experiment import render_experiment


def render(report: ExperimentReport, console: Console) -> None:
    """Print an experiment's summary."""
    render_experiment(report, console)
