"""A release gate as text."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.gate import GateReport
from fairtrial.cli.render.lines import line, section
from fairtrial.model.decision import Outcome
from fairtrial.model.gate_rule import RuleResult
from fairtrial.model.wording import excerpt

MARKS = {True: "✓", False: "✗", None: "?"}
WORDS = {
    Outcome.SHIP: "Ship",
    Outcome.HOLD: "Hold",
    Outcome.TOO_FEW: "Undecided",
    Outcome.NO_VERDICT: "No verdict",
}
STYLES = {Outcome.SHIP: "bold green", Outcome.HOLD: "bold red"}
SHOWN = 5


def render_gate(report: GateReport, console: Console) -> None:
    """Print each rule with its actual value, the rows that broke it, and the decision."""
    section(console, "Release gate")
    if report.baseline is not None:
        known = report.baseline.state is not None
        line(console, f"  {'against ' * known}{report.baseline.sentence}", "dim")
    for result in report.results:
        _result(result, console)
    outcome = report.decision.outcome
    line(console, f"{WORDS[outcome]}: {report.decision.reasons[0]}", STYLES.get(outcome, "bold"))


def _result(result: RuleResult, console: Console) -> None:
    reason = f" ({result.reason})" if result.reason else ""
    line(console, f"  {MARKS[result.passed]} {result.name}")
    line(console, f"      {result.shown}{reason}")
    if result.rows:
        names = ", ".join(excerpt(str(key), 80) for key in result.rows[:SHOWN])
        left = len(result.rows) - SHOWN
        more = f" and {left:,} more" if left > 0 else ""
        line(console, f"      {names}{more}", "dim")
