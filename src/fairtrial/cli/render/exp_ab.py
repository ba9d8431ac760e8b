"""`exp ab` as text: the edit, what it mends and what it breaks; or the plan."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.console import Console

from fairtrial.app.reports.ab import AbPlanReport, AbReport, BehaviorResult, TurnsBeside
from fairtrial.cli.render.comparison import render_outcome
from fairtrial.cli.render.experiment import render_problems
from fairtrial.cli.render.lines import line, more, section, table
from fairtrial.cli.render.words import counted, money, percent
from fairtrial.model.experiment import AB_ARMS
from fairtrial.model.json import Json
from fairtrial.model.wording import excerpt
from fairtrial.stats.proportion import Rate

SHOWN: Final = 20
FLIPS: Final = 3
"""Flips that are shown with their turns; the report as JSON has all."""
DIFF_LINES: Final = 40
LONGEST: Final = 400


def render(report: AbReport | AbPlanReport, console: Console) -> None:
    """Print what came of an edit, or what would be tried."""
    if isinstance(report, AbPlanReport):
        _plan(report, console)
        return
    run = report.run
    experiment = run.state.experiment
    line(console, f"{experiment.name}  {experiment.id}", "bold")
    _edit(report.edit, console)
    section(console, "Decisions that are right")
    columns = ("Behavior", ">Wrong before", ">Right before", ">A", ">B", ">Fixed", ">Broken", ">?")
    table(console, columns, [_behavior(one) for one in report.behaviors])
    for change, title in (("broken", "Broken by B"), ("fixed", "Fixed by B")):
        _flips([one for one in report.flips if one.change == change], title, console)
    render_problems(run, console)
    line(console, _fidelity(report.fidelity))
    n_cases = sum(one.bad + one.good for one in report.behaviors)
    if report.sessions < n_cases:
        line(
            console,
            f"{counted(n_cases, 'decision')} of {counted(report.sessions, 'session')}: those of one"
            " session are alike, so they prove less than as many sessions would; count each session"
            f" once: fairtrial exp compare {experiment.id} --cluster session",
            "yellow",
        )
    costs = ", ".join(f"{arm} {_cost(report, arm)}" for arm in AB_ARMS)
    line(console, f"cost: {costs}")
    if report.comparison is not None:
        render_outcome(report.comparison, console)
    if run.next_steps:
        section(console, "Next")
    for command, does in run.next_steps:
        line(console, f"  {does}:  {command}")


def _edit(edit: Mapping[str, Any], console: Console) -> None:
    line(console, str(edit["said"]))
    lines = str(edit["diff"]).splitlines()
    for text in lines[:DIFF_LINES]:
        line(console, f"  {text}", _colour(text))
    more(console, len(lines) - DIFF_LINES)


def _colour(text: str) -> str:
    if text.startswith(("+++", "---", "@@")):
        return "dim"
    return {"+": "green", "-": "red"}.get(text[:1], "")


def _behavior(one: BehaviorResult) -> tuple[str, ...]:
    return (
        one.behavior,
        f"{one.bad:,}",
        f"{one.good:,}",
        *(_rate(one.rates[arm]) for arm in AB_ARMS),
        f"{one.fixed:,}",
        f"{one.broken:,}",
        f"{one.undecided:,}",
    )


def _rate(rate: Rate) -> str:
    if rate.interval is None:
        return percent(rate.estimate)
    lower, upper = (100 * bound for bound in (rate.interval.lower, rate.interval.upper))
    return f"{percent(rate.estimate)} ({lower:.0f} to {upper:.0f})"


def _flips(flips: Sequence[TurnsBeside], title: str, console: Console) -> None:
    if not flips:
        return
    section(console, title)
    for one in flips[:FLIPS]:
        then = "went wrong" if one.bad else "went right"
        line(console, f"{one.case}  ({then}: {one.summary})")
        for arm in AB_ARMS:
            line(console, f"  {arm}  {_turn(one.turns.get(arm))}")
            if one.reasons.get(arm):
                line(console, f"     {one.reasons[arm]}", "dim")
    more(console, len(flips) - FLIPS)


def _turn(turn: Json) -> str:
    if not isinstance(turn, Mapping):
        return "–" if turn is None else excerpt(str(turn), LONGEST)
    parts = [" ".join(str(turn.get("text") or "").split())]
    for use in turn.get("tool_uses") or ():
        given = json.dumps(use.get("input"), ensure_ascii=False)
        parts.append(f"[{use.get('name')} {given}]")
    return excerpt(" ".join(part for part in parts if part), LONGEST)


def _fidelity(found: Mapping[str, int]) -> str:
    return "requests: " + ", ".join(f"{count:,} {name}" for name, count in sorted(found.items()))


def _cost(report: AbReport, arm: str) -> str:
    cost, kept = report.cost_usd[arm], report.kept[arm]
    told = "unknown" if cost is None else money(cost)
    if not kept:
        return told
    words = f"{counted(kept, 'answer')} kept from before"
    return f"nothing ({words})" if cost is None else f"{told} ({words})"


def _plan(report: AbPlanReport, console: Console) -> None:
    line(console, f"Plan of {report.name}; no model was called", "bold")
    _edit(report.edit.facts(), console)
    for note in report.notes:
        line(console, f"note: {note}", "yellow")
    console.print()
    rows = [
        (
            one.behavior,
            "wrong" if one.line.point.bad else "right",
            one.fidelity.value,
            str(one.turn.call.body.get("model")),
            one.case.id.removesuffix(f"-{one.behavior}"),
            excerpt(one.line.point.summary, 24),
        )
        for one in report.cases[:SHOWN]
    ]
    table(console, ("Behavior", "Was", "Request", "Model", "Moment", "What it did"), rows)
    more(console, len(report.cases) - len(rows))
    if report.more:
        line(console, "there may be more beyond --limit", "dim")
    console.print()
    times = f"{counted(len(report.cases), 'decision')} × 2 arms × {report.trials:,}"
    line(console, f"{counted(report.n_turns, 'next turn')} ({times})")
    line(console, f"cost: {report.cost.text()}")
