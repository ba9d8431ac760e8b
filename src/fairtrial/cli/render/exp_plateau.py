"""`exp plateau` as text: the rounds, the evidence as bars, and what to do."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.plateau import PlateauReport
from fairtrial.cli.render.lines import line, section, table
from fairtrial.cli.render.words import counted, percent
from fairtrial.model.decision import Outcome

BAR = 30
_STYLES = {Outcome.STOP: "bold yellow", Outcome.CONTINUE: "bold green"}


def render(report: PlateauReport, console: Console) -> None:
    """Print each round with its gain, its e-value and the evidence, then the decision."""
    loop = report.loop
    line(console, f"Loop of {report.of}, {report.rules.mode}", "bold")
    rows = [
        (
            "" if number is None else str(number),
            one.version.name,
            percent(one.version.score) if one.left_out is None else "–",
            _points(one.gain),
            "" if one.left_out is not None else "kept" if one.kept else "dropped",
            "" if e_value is None else f"{e_value:.2f}",
            "" if evidence is None else f"{evidence:.3g}",
            "" if evidence is None else _bar(evidence, report.need),
        )
        for number, one, e_value, evidence in report.told
    ]
    heads = (">Round", "Version", ">Passed", ">Gain", "", ">e", ">Evidence", _scale(report.need))
    table(console, heads, rows)
    for one in loop.rounds:
        if one.left_out is not None:
            line(console, f"  {one.version.name} is left out: {one.left_out}", "yellow")
    ship(report, console)
    console.print()
    line(console, report.summary(), _STYLES.get(loop.decision.outcome, "bold"))
    ahead = loop.decision.evidence.get("earliest_possible_stop")
    if loop.decision.outcome is Outcome.CONTINUE and ahead is not None:
        line(console, f"If nothing is gained any more, it stops after round {ahead}.")
    for reason in loop.decision.reasons[1:]:
        line(console, f"  {reason}", "dim")
    for advice in loop.decision.advice:
        line(console, f"  {advice}")


def ship(report: PlateauReport, console: Console) -> None:
    """Print which version ships, and how far it is above the baseline."""
    found, over = report.loop.ship, report.loop.over_baseline
    if found is None:
        return
    section(console, f"Version to ship: {found.name}  {found.id}")
    if over is None:
        line(console, "  it is the baseline: no round was kept")
        return
    difference, interval = over.difference, over.interval
    between = (
        f"no interval: {difference.reason}"
        if interval is None
        else f"{100 * interval.lower:+.1f} to {100 * interval.upper:+.1f}"
    )
    line(
        console,
        f"  {100 * (difference.estimate or 0.0):+.1f} points over the baseline "
        f"({between}; {counted(difference.n, 'case')})",
    )
    line(console, "  flattered by the choice among rounds: score it again on held-out cases", "dim")


def _points(gain: float | None) -> str:
    return "" if gain is None else f"{100 * gain:+.1f}"


def _scale(need: float) -> str:
    return f"0{'':>{BAR - 2}}{need:g} stops"


def _bar(evidence: float, need: float) -> str:
    share = min(evidence / need, 1.0)
    return "█" * round(BAR * share) + ("▶" if evidence >= need else "")
