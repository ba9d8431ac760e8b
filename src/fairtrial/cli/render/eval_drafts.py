"""Drafted eval tasks as text."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from fairtrial.app.reports.eval_drafts import DraftedTask, DraftsReport, LeftOut
from fairtrial.cli.render.lines import line, more, section
from fairtrial.cli.render.words import counted
from fairtrial.model.eval_task import RepoStart
from fairtrial.model.wording import excerpt

_MOST_UNKNOWN = 3
_LONGEST = 300
_ID = 12


def render(report: DraftsReport, console: Console) -> None:
    """Print a line for each task and for each session that was left out."""
    word = "would be drafted" if report.dry_run else "drafted"
    place = _below(report.folder, report.project)
    line(console, f"{counted(len(report.drafted), 'task')} {word} in {place}", "bold")
    for one in report.drafted:
        _task(one, report, console)
    if report.left_out:
        section(console, f"Left out: {counted(len(report.left_out), 'session')}")
        for left in report.left_out:
            line(console, f"  {_left_out(left)}")
    if report.more:
        line(console, "More sessions went wrong: raise --limit", "dim")
    if report.drafted and not report.dry_run:
        _next(report, console)


def _task(one: DraftedTask, report: DraftsReport, console: Console) -> None:
    task, origin = one.task, one.task.origin
    start = task.start if isinstance(task.start, RepoStart) else None
    parts = [
        *([] if origin is None else [origin.session[:_ID]]),
        *([] if start is None else [f"start {start.grade}"]),
        *(["near miss"] if task.near_misses else ["no near miss"]),
        *([] if origin is None else origin.flags[:2]),
    ]
    line(console, f"  {task.name}  ({', '.join(parts)})")
    unknown = () if start is None else start.unknown
    for reason in unknown[:_MOST_UNKNOWN]:
        line(console, f"    not known of its start: {excerpt(reason, _LONGEST)}", "dim")
    if len(unknown) > _MOST_UNKNOWN:
        more(console, len(unknown) - _MOST_UNKNOWN)
    for note in one.notes:
        what = "near miss" if task.near_misses else "no near miss"
        line(console, f"    {what}: {excerpt(note, _LONGEST)}", "dim")
    if one is report.drafted[0] and task.verifier.hidden:
        named = ", ".join(sorted(task.verifier.hidden))
        told = excerpt(named, _LONGEST)
        line(console, f"    hidden from the agent, as they are now: {told}", "dim")


def _left_out(left: LeftOut) -> str:
    return f"{left.session[:_ID]}  {excerpt(left.reason, _LONGEST)}"


def _next(report: DraftsReport, console: Console) -> None:
    first = report.drafted[0]
    folder = _below(first.folder, report.project)
    section(console, "Next")
    line(console, f"  read the session: fairtrial sessions show {_session(first)}")
    line(console, f"  add a correct change: {folder}/reference.patch")
    line(console, f"  load it: fairtrial eval import {folder}")
    line(console, f"  validate it: fairtrial eval validate {report.suite}/{first.task.name}")


def _session(one: DraftedTask) -> str:
    return "ID" if one.task.origin is None else one.task.origin.session[:_ID]


def _below(path: Path, project: Path) -> str:
    return str(path.relative_to(project) if path.is_relative_to(project) else path)
