"""`exp gate` as text: each rule, or the project's rules."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.gate import GateReport, GateRulesReport
from fairtrial.cli.render.gate import render_gate
from fairtrial.cli.render.lines import line


def render(report: GateReport | GateRulesReport, console: Console) -> None:
    """Print the gate of an experiment, or the rules of a project."""
    if isinstance(report, GateReport):
        experiment = report.state.experiment
        arm = "" if len(experiment.arms) == 1 else f"  arm {report.arm}"
        line(console, f"{experiment.name}  {experiment.id}{arm}", "bold")
        render_gate(report, console)
        return
    if not report.names:
        line(console, f"The project {report.project} has no rules.")
        return
    line(console, f"Rules of the project {report.project}", "bold")
    for name in report.names:
        line(console, f"  {name}")
