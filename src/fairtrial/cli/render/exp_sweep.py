"""`exp sweep` as text: the race, the effect on held-out cases, the guards, the decision."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.sweep import Guarded, SweepReport
from fairtrial.cli.render.deltas import deltas
from fairtrial.cli.render.gate import MARKS
from fairtrial.cli.render.lines import line, section
from fairtrial.cli.render.race import render_race
from fairtrial.cli.render.words import counted
from fairtrial.model.decision import Outcome
from fairtrial.model.experiment import Status

SHOWN = 5
_PHASES = {"race": "race", "held-out": "held-out comparison", "guard": "guard"}
_WORDS = {
    Outcome.SHIP: ("Adopt", "bold green"),
    Outcome.HOLD: ("Keep", "bold red"),
    Outcome.TOO_FEW: ("Too few cases to adopt", "bold yellow"),
    Outcome.NO_VERDICT: ("No verdict on", "bold yellow"),
}


def render(report: SweepReport, console: Console) -> None:
    """Print a sweep as far as it came."""
    plan = report.plan
    many = counted(len(plan.arms), "configuration")
    line(console, f"{plan.race.name}  race of {many} on {plan.race.dataset}", "bold")
    line(console, f"{report.sweep.id}  seed {plan.seed}, {plan.splits[0]}", "dim")
    if report.race is not None:
        section(console, "Race")
        line(console, report.race.lines[0])
        render_race(report.race.facts, console)
    if report.held_out is not None:
        _held_out(report, console)
    if plan.guards and report.race is not None and report.winner != report.start:
        _guards(report, console)
    if report.tried is not None:
        console.print()
        line(console, report.tried.sentence())
    _end(report, console)


def _held_out(report: SweepReport, console: Console) -> None:
    if report.held_out is None:
        return
    plan, found = report.plan, report.held_out.comparison
    cases = counted(len(plan.held_out.positions), "case")
    section(console, f"Effect: {report.winner} against {report.start}, held out")
    line(console, f"  {cases} that nobody raced on ({plan.splits[1]}); {plan.held_out.id}", "dim")
    if found.comparable:
        deltas(found, console, parts=False)
    line(console, found.sentence, "bold")


def _guards(report: SweepReport, console: Console) -> None:
    section(console, "Guards")
    for guarded in report.guards:
        _guard(guarded, console)
    left = report.plan.guards[len(report.guards) :]
    if left:
        names = ", ".join(phase.dataset for phase in left)
        why = "nothing to adopt" if report.decision is not None else "not finished"
        line(console, f"  – {names}: not run, {why}", "dim")


def _guard(guarded: Guarded, console: Console) -> None:
    kept = {Outcome.SHIP: True, Outcome.HOLD: False}.get(guarded.decision.outcome)
    first, *others = guarded.decision.reasons
    line(console, f"  {MARKS[kept]} {guarded.dataset}: {first}")
    for reason in others:
        line(console, f"      {reason}")
    broken = guarded.decision.evidence.get("broken_cases") or []
    if broken and not kept:
        more = f" and {len(broken) - SHOWN:,} more" if len(broken) > SHOWN else ""
        line(console, f"      broken: {', '.join(broken[:SHOWN])}{more}", "dim")


def _end(report: SweepReport, console: Console) -> None:
    console.print()
    decision = report.decision
    if decision is None:
        state = report.states[-1]
        reason = f": {state.status_reason}" if state.status_reason else ""
        stands = "not finished" if state.status is Status.FINISHED else str(state.status)
        line(console, f"The {_PHASES[report.phase]} is {stands}{reason}", "bold yellow")
        line(console, f"  go on:  {report.resume}")
        return
    word, style = _WORDS.get(decision.outcome, ("Keep", "bold"))
    who = report.start if decision.outcome is Outcome.HOLD else report.winner
    if decision.outcome is Outcome.NO_VERDICT and report.held_out is None:
        who = "any of them"
    line(console, f"{word} {who}: {decision.reasons[0]}", style)
    for reason in decision.reasons[1:]:
        line(console, f"  {reason}")
    for advice in decision.advice:
        line(console, f"  {advice}", "dim")
