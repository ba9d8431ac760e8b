"""`exp replay` as text: what each arm did, or the plan."""

from __future__ import annotations

import json
from collections.abc import Mapping

from rich.console import Console

from fairtrial.app.reports.replay import ReplayedWith, ReplayPlanReport, ReplayReport
from fairtrial.cli.render.experiment import render_experiment
from fairtrial.cli.render.lines import line, more, section, table
from fairtrial.cli.render.words import counted, money, percent
from fairtrial.model.json import Json
from fairtrial.model.wording import excerpt

SHOWN = 20
LONGEST = 60


def render(report: ReplayReport | ReplayPlanReport, console: Console) -> None:
    """Print how often each arm takes the recorded action, then the experiment; or the plan."""
    if isinstance(report, ReplayPlanReport):
        _plan(report, console)
        return
    render_experiment(report.run, console, next_steps=False)
    section(console, "Same first action as recorded")
    columns = ("Arm", ">Same", ">95 % interval", ">Replies", ">Cost", "Sends")
    table(console, columns, [_row(arm) for arm in report.arms])
    if report.run.next_steps:
        section(console, "Next")
        for command, does in report.run.next_steps:
            line(console, f"  {does}:  {command}")


def _row(arm: ReplayedWith) -> tuple[str, ...]:
    rate = arm.same_action
    interval = "–"
    if rate.interval is not None:
        interval = f"{percent(rate.interval.lower)} to {percent(rate.interval.upper)}"
    cost = "–" if arm.cost_usd is None else money(arm.cost_usd)
    if arm.cost_usd is not None and arm.costed < arm.replies:
        cost += f" (known for {arm.costed:,})"
    return (
        arm.arm,
        percent(rate.estimate),
        interval,
        f"{arm.replies:,}",
        cost,
        _changes(arm.changes),
    )


def _changes(changes: Mapping[str, Json]) -> str:
    if not changes:
        return "the recorded request"
    return ", ".join(f"{name}={_short(value)}" for name, value in changes.items())


def _short(value: Json) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return excerpt(" ".join(text.split()), LONGEST)


def _plan(report: ReplayPlanReport, console: Console) -> None:
    line(console, f"Plan of {report.name}; no model was called", "bold")
    for note in report.notes:
        line(console, f"note: {note}", "yellow")
    console.print()
    rows = [
        (call.id, f"{call.session or '–'}#{call.number}", call.model or "–", str(call.status))
        for call in report.calls[:SHOWN]
    ]
    table(console, ("Call", "Place", "Model", "Status"), rows)
    more(console, len(report.calls) - len(rows))
    console.print()
    arms = [(one.arm, _changes(one.changes), one.cost.text()) for one in report.arms]
    table(console, ("Arm", "Sends", "Cost"), arms)
    console.print()
    calls, arms_text = counted(len(report.calls), "call"), counted(len(report.arms), "arm")
    times = f"{calls} × {arms_text} × {report.n:,}"
    replies = "1 reply" if report.n_replies == 1 else f"{report.n_replies:,} replies"
    line(console, f"{replies} ({times}), graded by {', '.join(report.graders)}")
    line(console, f"cost: {report.cost.text()}")
