"""`eval validate` as text: one line a task, then what else was found."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.validation import TaskOutcome, ValidationReport
from fairtrial.cli.render.lines import line
from fairtrial.cli.render.words import counted, duration, money

_STYLES = {"validated": "green", "draft": "bold red", "unchecked": "yellow"}


def render(report: ValidationReport, console: Console) -> None:
    """Print a line for each task, its further problems and warnings below it, and a sum."""
    width = max(map(len, _STYLES))
    for task in report.tasks:
        line(console, f"{task.status:<{width}}  {_told(task)}", _STYLES[task.status])
        for text in task.findings("problems")[1:]:
            line(console, f"{'':<{width}}  also: {text}")
        for text in task.findings("warnings"):
            line(console, f"{'':<{width}}  warning: {text}", "dim")
    console.print()
    parts = [f"{report.count('validated'):,} of {counted(len(report.tasks), 'task')} validated"]
    if report.count("unchecked"):
        parts.append(f"{report.count('unchecked'):,} not checked")
    line(console, ", ".join(parts), "bold")


def _told(task: TaskOutcome) -> str:
    name = f"{task.suite}/{task.task}"
    if task.reason is not None:
        return f"{name}  {task.reason}"
    told = task.validation or {}
    parts = [f"k {told['k']}", f"level {told['level']}"] if told else []
    if task.earlier:
        parts.append("validated before; --again checks it anew")
    elif told:
        parts.append(duration(told["duration_s"]))
        if told["cost_usd"]:
            parts.append(money(told["cost_usd"]))
    return f"{name}  {', '.join(parts)}"
