"""`exp run` as text: the summary, or the plan."""

from __future__ import annotations

import json

from rich.console import Console

from fairtrial.app.reports.experiment import ExperimentReport
from fairtrial.app.reports.plan import PlanReport, SmallestEffect
from fairtrial.cli.render.experiment import render_experiment
from fairtrial.cli.render.lines import line
from fairtrial.cli.render.matrix import render_planned
from fairtrial.cli.render.words import counted, percent, points
from fairtrial.model.json import Json


def render(report: ExperimentReport | PlanReport, console: Console) -> None:
    """Print what ran, or with `--dry-run` what would."""
    if isinstance(report, ExperimentReport):
        render_experiment(report, console)
    else:
        _plan(report, console)


def _plan(report: PlanReport, console: Console) -> None:
    line(console, f"Plan of {report.name}; nothing was run", "bold")
    to_run = report.n_planned - report.n_kept
    most = "at most " if report.spec.get("design", {}).get("kind") not in (None, "seq") else ""
    lines = [
        ("dataset", f"{report.dataset}, {report.n_cases:,} of {report.n_dataset:,} cases"),
        ("trials", f"{most}{report.n_planned:,} planned, {to_run:,} to run"),
    ]
    if report.resumes:
        lines.append(("resumes", f"{report.resumes}, {counted(report.n_kept, 'trial')} kept"))
    lines += [
        (f"task {arm}", json.dumps(task, ensure_ascii=False))
        for arm, task in report.spec["arms"].items()
    ]
    lines += [
        (f"grader {grader['name']}", json.dumps(grader, ensure_ascii=False))
        for grader in report.spec["graders"]
    ]
    first = ", ".join(f"{case_id} trial {trial}" for case_id, _, _, trial in report.first)
    lines += [
        ("limits", ", ".join(_limit(name, value) for name, value in report.policy.items())),
        ("cost", report.cost.text()),
        ("seed", str(report.seed)),
        ("first", f"{first}{' …' if to_run > len(report.first) else ''}" or "nothing"),
    ]
    for name, text in lines:
        line(console, f"  {name:<16} {text}")
    if report.cells:
        render_planned(report.cells, console)
    line(console, _visible(report.smallest_effect))


def _visible(found: SmallestEffect) -> str:
    if found.effect is None:
        what = "Too few cases: compared with another such run, no difference can be counted on."
    else:
        what = (
            f"Compared with another such run, it shows a difference of {points(found.effect)} or "
            f"more {100 * found.power:g}% of the time."
        )
    return (
        f"{what} Assumed: {percent(found.flip_rate)} of verdicts flip without any change "
        f"({found.assumption})."
    )


def _limit(name: str, value: Json) -> str:
    return f"{name} {'none' if value is None else value}"
