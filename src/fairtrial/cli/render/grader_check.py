"""`grader check` as text: what fooled the grader first, then all that was tried."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.canaries import CanaryReport, Tried
from fairtrial.cli.render.lines import line, more, section, table
from fairtrial.cli.render.words import counted, money
from fairtrial.graders.canaries import CONTROL
from fairtrial.model.errors import ExitCode

SHOWN = 10
"""Outputs that are listed; `--json` has them all."""
_STYLES = {ExitCode.OK: "bold green", ExitCode.NEGATIVE: "bold red"}
_OUTCOMES = ("fooled", "held", "no answer", "passes anyway")


def render(report: CanaryReport, console: Console) -> None:
    """Print the verdict, a table of what was tried, and what fooled the grader."""
    line(console, report.sentence, _STYLES.get(report.exit_code, "bold yellow"))
    console.print()
    _table(report, console)
    _listed("Fooled by", report.those("fooled"), console)
    _listed("Without an answer", report.those("no answer"), console)
    anyway = [one for one in report.tried if one.canary.kind == CONTROL and one.score.passed]
    if anyway:
        section(console, "Passed as they are, so that what was added to them shows nothing")
        names = ", ".join(str(one.canary.subject.case.key) for one in anyway)
        line(console, f"  {names}")
    console.print()
    source = "built-in questions" if report.source is None else f"failed outputs of {report.source}"
    cost = "" if not report.cost_usd else f", {money(report.cost_usd)}"
    line(console, f"{counted(len(report.tried), 'output')} graded, from {source}{cost}", "dim")


def _table(report: CanaryReport, console: Console) -> None:
    kinds: dict[str, list[str]] = {}
    for one in report.tried:
        if one.canary.kind != CONTROL:
            kinds.setdefault(one.canary.kind, []).append(one.outcome)
    rows = [
        (kind, *(f"{outcomes.count(outcome) or '–'}" for outcome in _OUTCOMES))
        for kind, outcomes in kinds.items()
    ]
    table(console, ("Tried", *(f">{outcome}" for outcome in _OUTCOMES)), rows)


def _listed(title: str, tried: tuple[Tried, ...], console: Console) -> None:
    if not tried:
        return
    section(console, title)
    for one in tried[:SHOWN]:
        about = f"  {one.canary.subject.case.key}  {one.canary.kind}"
        line(console, f"{about}: {one.score.reason or 'no reason'}", cut=True)
    more(console, len(tried) - SHOWN)
