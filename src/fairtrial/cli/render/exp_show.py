"""`exp show` as text: the summary, or one case in full."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rich.console import Console

from fairtrial.app.reports.case import CaseReport
from fairtrial.app.reports.experiment import ExperimentReport
from fairtrial.app.reports.rows import RowsReport
from fairtrial.cli.render.agent_trial import is_agents, render_agents, render_printed
from fairtrial.cli.render.experiment import render_experiment
from fairtrial.cli.render.lines import block, line
from fairtrial.cli.render.replay import followed
from fairtrial.cli.render.rows import render as render_rows
from fairtrial.cli.render.words import duration, money, number, quantity, reused, spent
from fairtrial.model.case import Case
from fairtrial.model.json import Json
from fairtrial.model.score import Score
from fairtrial.model.trial import MAIN_ARM, Trial

if TYPE_CHECKING:
    from fairtrial.app.reports.metrics import MetricsReport

LONGEST = 4_000
"""Characters of an input or output that are shown; `--json` has it whole."""


def render(
    report: ExperimentReport | CaseReport | RowsReport | MetricsReport, console: Console
) -> None:
    """Print an experiment's summary, one case and every trial of it, or rows."""
    if isinstance(report, ExperimentReport):
        render_experiment(report, console, asked=True)
    elif isinstance(report, RowsReport):
        render_rows(report, console)
    elif isinstance(report, CaseReport):
        for case in report.cases:
            _case(case, console)
        if report.outputs_removed:
            line(console, "The outputs were removed with fairtrial prune", "yellow")
        for trial in report.trials:
            _trial(trial, console)
            _further(trial, console)
    else:
        from fairtrial.cli.render import exp_metrics  # noqa: PLC0415  # loads numpy

        exp_metrics.render(report, console)


def _case(case: Case, console: Console) -> None:
    line(console, f"{case.key}", "bold")
    _value("input", case.input, console)
    if case.expected is not None:
        _value("expected", case.expected, console)
    console.print()


def _took(trial: Trial) -> list[str]:
    """Return how a trial ended, what it took and what it did without, part by part."""
    cause = f" ({trial.cause})" if trial.cause else ""
    parts = [f"{trial.verdict}{cause}", _lasted(trial.duration_s)]
    if used := trial.process:
        memory = quantity("max_rss_bytes", used.max_rss_bytes)
        parts += [f"{duration(used.cpu_s)} CPU", f"peak {memory}"]
    if trial.tries > 1:
        parts.append(f"{trial.tries} tries")
    if trial.cost_usd is not None:
        parts.append(money(trial.cost_usd))
    parts += spent(None, trial.grading_cost_usd)
    if (again := trial.reused) is not None:
        parts.append(reused(again.source, again.calls, again.cost_usd))
    return parts


def _lasted(seconds: float | None) -> str:
    return "duration not told" if seconds is None else duration(seconds)


def _trial(trial: Trial, console: Console) -> None:
    arm = "" if trial.key.arm == MAIN_ARM else f"  arm {trial.key.arm}"
    title = f"{trial.key.case_key}{arm}  trial {trial.key.trial}: {', '.join(_took(trial))}"
    line(console, title, "bold")
    if trial.reason:
        line(console, f"  {trial.reason}")
    if trial.replay is not None:
        line(console, f"  {followed(trial.replay)}")
    for name, value in trial.metrics.items():
        line(console, f"  {name} {quantity(name, value)}")
    for score in trial.scores:
        _score(score, console)
    if is_agents(trial.output):
        render_agents(trial.output, console)
    elif trial.output is not None or trial.cause is None:
        _value("output", trial.output, console)
    if trial.process and trial.process.stderr_tail:
        line(console, "  end of standard error")
        block(console, trial.process.stderr_tail.rstrip())
    console.print()


def _further(trial: Trial, console: Console) -> None:
    """Print the attempts after the first, what they were told, and reruns."""
    told = None
    for attempt in trial.attempts:
        if attempt.number > 1:
            cost = "" if attempt.cost_usd is None else f", {money(attempt.cost_usd)}"
            title = f"attempt {attempt.number}: {attempt.verdict}{cost}"
            line(console, f"{trial.key.case_key}  trial {trial.key.trial}, {title}", "bold")
            if attempt.reason:
                line(console, f"  {attempt.reason}")
            _value("was told", told, console)
            _value("output", attempt.output, console)
            console.print()
        told = attempt.feedback
    for count, rerun in enumerate(trial.reruns, start=1):
        reason = f"  {rerun.reason}" if rerun.reason else ""
        line(console, f"{trial.key.case_key}  rerun {count}: {rerun.verdict}{reason}")
    if trial.reruns:
        console.print()


def _score(score: Score, console: Console) -> None:
    mark = {True: "✓", False: "✗", None: "?"}[score.passed]
    reason = f"  {score.reason}" if score.reason else ""
    line(console, f"  {mark} {score.grader} {number(score.value)}{reason}")
    _answers(score, console)
    render_printed(score.detail, console)


def _answers(score: Score, console: Console) -> None:
    """Print what each judge said each time, where there were several answers."""
    answers = score.detail.get("answers", ()) if isinstance(score.detail, dict) else ()
    for answer in answers if len(answers) > 1 else ():
        said = "no answer" if answer["said"] is None else answer["said"]
        text = f"      {answer['judge']} #{answer['sample']}  {said}: {answer['reason']}"
        line(console, text, "dim", cut=True)


def _value(title: str, value: Json, console: Console) -> None:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    if not text:
        line(console, f"  {title}  (empty)")
        return
    line(console, f"  {title}")
    block(console, text[:LONGEST] + (" … (cut)" if len(text) > LONGEST else ""))
