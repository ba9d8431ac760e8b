"""`push` as text."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console

from fairtrial.app.reports.pushed import Pushed, PushReport
from fairtrial.cli.render.lines import line, more
from fairtrial.cli.render.words import counted
from fairtrial.model.json import Json

_SHOWN = 8


def render(report: PushReport, console: Console) -> None:
    """Say what became of each run, and what was not understood."""
    for number, one in enumerate(report.pushed):
        if number:
            console.print()
        _pushed(one, console)
    for failed in report.failed[:_SHOWN]:
        line(console, f"not pushed: {failed.path}: {failed.error.what}", "red")
        if failed.error.why:
            line(console, f"  why: {failed.error.why}", "red")
        if failed.error.fix:
            line(console, f"  fix: {failed.error.fix}", "red")
    more(console, len(report.failed) - _SHOWN)
    _next(report, console)


def _pushed(one: Pushed, console: Console) -> None:
    what = f"{counted(one.trials, 'trial')} of {counted(one.cases, 'case')}"
    if len(one.arms) > 1:
        what += f" in {counted(len(one.arms), 'arm')}"
    if one.standing is None:
        line(console, f"{one.path}: {one.tool}, {what}; nothing was written")
    else:
        line(console, f"{one.standing['name']}  on {one.standing['dataset']}", "bold")
        line(console, f"{one.standing['id']}  from {one.path} ({one.tool})")
        line(console, f"{what}: {_verdicts(one.standing)}")
        if one.again:
            line(console, "It was there already; --again makes another one of it.")
    line(console, "Decided by " + (_deciding(one) or "nothing"))
    for note in one.notes[:_SHOWN]:
        first = f" (first: {note.first})" if note.first else ""
        line(console, f"  {note.count:,} × {note.what}{first}", "yellow" if note.lost else "dim")
    more(console, len(one.notes) - _SHOWN)
    if one.sessions:
        line(console, f"{counted(len(one.sessions), 'session')} came with it")


def _verdicts(standing: Mapping[str, Json]) -> str:
    parts = [f"{standing[name]:,} {name}" for name in ("passed", "failed", "undecided")]
    text = ", ".join(parts)
    if standing["status"] != "finished":
        text += f"; {standing['status']}"
        if standing["status_reason"]:
            text += f": {standing['status_reason']}"
    return text


def _deciding(one: Pushed) -> str:
    parts = []
    for grader in one.graders:
        if not grader.get("required", True):
            continue
        sign = "≤" if grader.get("lower_is_better") else "≥"
        scored = one.scored.get(str(grader["name"]), 0)
        parts.append(
            f"{grader['name']} {sign} {grader['threshold']:g} ({scored:,} of {one.trials:,} scored)"
        )
    return ", ".join(parts)


def _next(report: PushReport, console: Console) -> None:
    if report.dry_run or not report.pushed or report.url is not None:
        return
    last = report.pushed[-1].standing
    if last is None:
        return
    console.print()
    line(console, "Next", "bold")
    line(console, f"  read it:  fairtrial exp show {last['id']}")
    if len(report.pushed) > 1 and report.pushed[-2].standing is not None:
        first = report.pushed[-2].standing["id"]
        line(console, f"  compare the last two:  fairtrial exp compare {first} {last['id']}")
