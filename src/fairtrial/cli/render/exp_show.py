"""`exp show` as text: the summary, or one case in full."""

from __future__ import annotations

import json

from rich.console import Console

from fairtrial.app.reports.case import CaseReport
from fairtrial.app.reports.experiment import ExperimentReport
from fairtrial.cli.render.experiment import render_experiment
from fairtrial.cli.render.lines import block, line
from fairtrial.cli.render.words import duration, money, number
from fairtrial.model.json import Json
from fairtrial.model.trial import Trial

LONGEST = 4_000
"""Characters of an output that are shown; `--json` has it whole."""


def render(report: ExperimentReport | CaseReport, console: Console) -> None:
    """Print an experiment's summary, or every trial of one case."""
    if isinstance(report, ExperimentReport):
        render_experiment(report, console)
        return
    for trial in report.trials:
        _trial(trial, console)


def _trial(trial: Trial, console: Console) -> None:
    cause = f" ({trial.cause})" if trial.cause else ""
    parts = [f"{trial.verdict}{cause}", duration(trial.duration_s)]
    if trial.tries > 1:
        parts.append(f"{trial.tries} tries")
    if trial.cost_usd is not None:
        parts.append(money(trial.cost_usd))
    line(console, f"{trial.key.case_key}  trial {trial.key.trial}: {', '.join(parts)}", "bold")
    if trial.reason:
        line(console, f"  {trial.reason}")
    for score in trial.scores:
        mark = {True: "✓", False: "✗", None: "?"}[score.passed]
        reason = f"  {score.reason}" if score.reason else ""
        line(console, f"  {mark} {score.grader} {number(score.value)}{reason}")
    line(console, "  output")
    text = trial.output if isinstance(trial.output, str) else _pretty(trial.output)
    block(console, text[:LONGEST] + (" … (cut)" if len(text) > LONGEST else ""))
    if trial.process and trial.process.stderr_tail:
        line(console, "  end of standard error")
        block(console, trial.process.stderr_tail.rstrip())
    console.print()


def _pretty(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
