"""`eval import` as text."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.eval_tasks import ImportReport, LoadedTask
from fairtrial.cli.render.lines import block, line

_NAMES = {
    "agent_limit_s": "time limit",
    "near_misses": "near misses",
}


def render(report: ImportReport, console: Console) -> None:
    """Print a line for each task, and what could not be loaded."""
    for one in report.loaded:
        line(console, f"{report.suite}/{one.kept.task.name}: {_what(one)}")
        for note in one.notes:
            line(console, f"  {note}", "yellow")
    for folder, why in report.problems:
        line(console, f"not loaded: {folder}", "red")
        block(console, why)
    for name in report.gone:
        told = f"{report.suite}/{name}: its folder is gone"
        line(console, f"{told} (take it off: fairtrial eval rm {report.suite}/{name})", "yellow")


def _what(one: LoadedTask) -> str:
    status = one.kept.status.value
    if one.change == "new":
        return f"loaded, {status}"
    if one.change == "unchanged":
        return f"unchanged, {status}"
    changed = ", ".join(_NAMES.get(key, key) for key in one.changed)
    void = "; its validation was of the version before" if one.void else ""
    return f"{changed} changed, {status}{void}"
