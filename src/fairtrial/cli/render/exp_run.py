"""`exp run` as text: the summary, or the plan."""

from __future__ import annotations

import json

from rich.console import Console
from rich.text import Text

from fairtrial.app.reports.experiment import ExperimentReport
from fairtrial.app.reports.plan import PlanReport
from fairtrial.cli.render.experiment import render_experiment
from fairtrial.cli.render.words import counted


def render(report: ExperimentReport | PlanReport, console: Console) -> None:
    """Print what ran, or with `--dry-run` what would."""
    if isinstance(report, ExperimentReport):
        render_experiment(report, console)
    else:
        _plan(report, console)


def _plan(report: PlanReport, console: Console) -> None:
    console.print(Text(f"Plan of {report.name}: nothing was run", style="bold"))
    lines = [
        ("dataset", f"{report.dataset}, {report.n_cases:,} of {report.n_dataset:,} cases"),
        ("trials", f"{report.n_planned:,} planned, {report.n_planned - report.n_kept:,} to run"),
        ("order", f"seed {report.seed}"),
        ("limits", ", ".join(f"{name} {value}" for name, value in report.policy.items())),
    ]
    if report.resumes:
        lines.insert(2, ("resumes", f"{report.resumes}, {counted(report.n_kept, 'trial')} kept"))
    for arm, task in report.spec["arms"].items():
        lines.append((f"task {arm}", json.dumps(task, ensure_ascii=False)))
    for grader in report.spec["graders"]:
        lines.append((f"grader {grader['name']}", json.dumps(grader, ensure_ascii=False)))
    for name, text in lines:
        console.print(Text(f"  {name:<18}{text}"), soft_wrap=True)
    first = ", ".join(f"{case_id} {trial}" for case_id, _, _, trial in report.first)
    console.print(Text(f"  {'first':<18}{first} …"), soft_wrap=True)
