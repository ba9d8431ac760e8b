"""`eval report` as text: what `eval run` said, from what is stored."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.eval_run import EvalReport
from fairtrial.cli.render import eval_run


def render(report: EvalReport, console: Console) -> None:
    """Print the report of a run."""
    eval_run.render(report, console)
