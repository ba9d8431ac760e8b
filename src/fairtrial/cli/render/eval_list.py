"""`eval list` as text."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.eval_tasks import ListedTask, TasksReport
from fairtrial.cli.render.lines import line, table
from fairtrial.cli.render.words import counted, named
from fairtrial.model.eval_task import RepoStart

_FEW = 20
_STATES = {
    "loaded": "",
    "edited": "edited since it was loaded",
    "gone": "its folder is gone",
    "broken": "its folder cannot be read",
}
_COLUMNS = ("Task", "Status", "Start", "Reference", ">Near misses", ">Hidden", "Session", "Note")
_ID = 12


def render(report: TasksReport, console: Console) -> None:
    """Print a table of the tasks of each suite."""
    if not report.tasks:
        line(console, "No eval task is loaded here. Draft some from sessions that went wrong with:")
        line(console, "  fairtrial eval init --sessions --verifier 'npm test'")
        return
    suites = dict.fromkeys((one.kept.project, one.kept.task.suite) for one in report.tasks)
    for number, (project, suite) in enumerate(suites):
        if number:
            console.print()
        found = [
            one
            for one in report.tasks
            if (one.kept.project, one.kept.task.suite) == (project, suite)
        ]
        where = f" in {project}" if report.project is None else ""
        line(console, f"{suite}{where}: {counted(len(found), 'task')}", "bold")
        _suite(found, console)


def _suite(found: list[ListedTask], console: Console) -> None:
    rows = [_row(one) for one in found]
    # What no task has is left out.
    kept = [at for at in range(len(_COLUMNS)) if at < 2 or any(row[at] for row in rows)]
    table(console, [_COLUMNS[at] for at in kept], [[row[at] for at in kept] for row in rows])
    bare = sum(not one.kept.task.has_reference for one in found)
    if bare:
        line(console, f"{counted(bare, 'task')} without a reference", "dim")
    if len(found) < _FEW:
        line(console, f"Under {_FEW} tasks: such a suite only shows large changes", "dim")


def _row(one: ListedTask) -> tuple[str, ...]:
    task = one.kept.task
    start = task.start
    return (
        named(task.name),
        one.kept.status.value,
        start.grade if isinstance(start, RepoStart) else "folder",
        "yes" if task.reference is not None else "",
        str(len(task.near_misses)) if task.near_misses else "",
        str(len(task.verifier.hidden)) if task.verifier.hidden else "",
        "" if task.origin is None else task.origin.session[:_ID],
        _STATES[one.state],
    )
