"""`sessions decisions` as text."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.decisions import AnchorTrouble, DecisionLine, DecisionsReport, moment_of
from fairtrial.cli.render.lines import line, section
from fairtrial.cli.render.sessions import place, short_id
from fairtrial.cli.render.sessions_show import show_event
from fairtrial.cli.render.words import counted, when
from fairtrial.model.session import Usage

_KINDS = {"bad": "decision point", "good": "good decision", "both": "decision point"}


def render(report: DecisionsReport, console: Console) -> None:
    """Print decision points, each in short or with what the agent knew."""
    for trouble in report.troubles:
        _trouble(trouble, console, broken=trouble.anchor in report.broken)
    if not report.decisions:
        _none(report, console)
        return
    for one in report.decisions:
        if report.shown:
            _in_full(one, console, report.shown)
        else:
            _in_short(one, console)
    console.print()
    named = {one.point.behavior for one in report.decisions}
    for behavior in report.behaviors:
        if behavior.name in named:
            line(console, f"{behavior.name}: {behavior.summary}", "dim")
    if report.more:
        line(console, "There are more: raise --limit", "dim")
    if not report.shown:
        shown = f"fairtrial sessions show {short_id(report.decisions[0].session)}"
        line(console, f"See what led to them: add --context 6; or {shown}", "dim")


def _in_short(one: DecisionLine, console: Console) -> None:
    point = one.point
    name = f"{short_id(one.session)} #{point.after}"
    line(console, f"{name}  {point.behavior}, chose {_how(one)}", "yellow" if point.bad else "")
    line(console, f"    {point.summary}{_same(one)}")
    line(console, f"    {_surroundings(one)}", "dim")


def _surroundings(one: DecisionLine) -> str:
    at = moment_of(one)
    moment = "" if at is None else f", {when(at)}"
    return f"{one.session.agent} in {place(one.session)}{moment}"


def _how(one: DecisionLine) -> str:
    return "badly" if one.point.bad else "well"


def _same(one: DecisionLine) -> str:
    return f" ({one.same:,} more like it)" if one.same else ""


def _in_full(one: DecisionLine, console: Console, shown: int) -> None:
    session, point = one.session, one.point
    section(console, f"{point.behavior}, chose {_how(one)}: {point.summary}{_same(one)}")
    line(console, f"{session.id} #{point.after}: {_surroundings(one)}", "dim")
    told = [event for event in one.context if not isinstance(event, Usage)]
    if len(told) > shown:
        line(console, f"      … {counted(len(told) - shown, 'earlier event')}", "dim")
    for event in told[-shown:]:
        show_event(event, console, full=False)
    line(console, "      ◆ it decided, and then", "bold")
    for done in one.choice:
        show_event(done, console, full=False)


def _trouble(trouble: AnchorTrouble, console: Console, *, broken: bool) -> None:
    where = "every session" if broken else counted(trouble.sessions, "session")
    line(
        console, f"The anchor {trouble.anchor} failed at {where}, first at {trouble.session}", "red"
    )
    line(console, f"  why: {trouble.why}", "red")
    line(console, "  fix: mend its points(); what it found elsewhere is listed", "red")


def _none(report: DecisionsReport, console: Console) -> None:
    looked = counted(report.sessions, "session")
    line(console, f"No {_KINDS[report.sought]} found in {looked}")
    if report.other_agents:
        others = ", ".join(report.other_agents)
        line(console, f"Sessions of other agents were passed over: {others}")
    line(console, "Read new sessions with: fairtrial sessions sync; look further back: --since 60d")
