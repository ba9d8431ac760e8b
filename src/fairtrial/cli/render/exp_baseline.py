"""`exp baseline` as text."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.baseline import BaselineReport
from fairtrial.cli.render.lines import line
from fairtrial.cli.render.words import percent, when


def render(report: BaselineReport, console: Console) -> None:
    """Print the baseline, or why there is none."""
    baseline = report.baseline
    line(console, baseline.sentence)
    if baseline.state is None:
        if report.of is None:
            line(console, "Each experiment is compared with the newest earlier one of its kind.")
        return
    for reason in baseline.reasons:
        line(console, f"  passed over: {reason}")
    experiment, totals = baseline.state.experiment, baseline.state.totals
    share = totals.passed / totals.decided if totals.decided else None
    passed = f"{percent(share)} of {totals.decided:,} trials passed"
    line(console, f"  on {experiment.on_dataset}, {passed}, {when(experiment.created_at)}")
    line(console, f"  project {report.project}", "dim")
