"""`eval run` as text: how reliably the tasks are solved, what went wrong, and what was seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console

from fairtrial.analysis.eval_reading import ArmReading, EvalReading, TrialReading
from fairtrial.analysis.eval_words import (
    isolation_lines,
    session_command,
    task_words,
    trial_name,
)
from fairtrial.app.reports.eval_run import EvalPlanReport, EvalReport
from fairtrial.cli.render.comparison import render_comparison
from fairtrial.cli.render.experiment import (
    render_design,
    render_headline,
    render_next,
    render_problems,
    render_timelines,
)
from fairtrial.cli.render.gate import render_gate
from fairtrial.cli.render.lines import line, more, section, table
from fairtrial.cli.render.matrix import render_matrix
from fairtrial.cli.render.words import counted, duration, money, percent
from fairtrial.model.json import Json
from fairtrial.stats.passk import SuiteValue

SHOWN = 10
"""Trials of a kind that a report lists; the JSON has them all."""


def render(report: EvalReport | EvalPlanReport, console: Console) -> None:
    """Print what ran, or would."""
    if isinstance(report, EvalPlanReport):
        _plan(report, console)
        return
    run, reading = report.run, report.reading
    if run.note:
        line(console, run.note, "yellow")
    render_headline(run, console)
    render_reading(reading, console)
    render_problems(run, console)
    if run.matrix is not None:
        render_matrix(run.matrix, console)
    if run.gate is not None:
        render_gate(run.gate, console)
    if run.comparison is not None:
        console.print()
        render_comparison(run.comparison, console)
    if run.design is not None:
        render_design(run.design, console)
    render_timelines(run, console)
    render_next(run, console)


def render_reading(reading: EvalReading, console: Console) -> None:
    """Print what the trials came to."""
    console.print()
    _arms(reading.arms, console)
    console.print()
    _tasks(reading, console)
    _failed(reading.failed, console)
    _leaks(reading.leaking, console)
    _over_limit(reading.over_limit, console)
    section(console, "Isolation")
    for text in isolation_lines(reading):
        line(console, f"  {text}")
    if reading.notes:
        section(console, "Keep in mind")
        for note in reading.notes:
            line(console, f"  {note}")


def _plan(report: EvalPlanReport, console: Console) -> None:
    line(console, f"Plan of {report.suite}{'' if report.asking else '; nothing was run'}", "bold")
    tasks = ", ".join(report.tasks[:10]) + (" …" if len(report.tasks) > 10 else "")
    left = "" if report.n_due == report.n_planned else f", {report.n_due:,} of them to run"
    lines = [
        ("tasks", f"{len(report.tasks):,}: {tasks}"),
        *((f"arm {arm}", agent_words(task)) for arm, task in report.arms.items()),
        ("trials", f"{report.n_planned:,}{left}"),
        ("cost", report.cost.text()),
    ]
    if report.resumes:
        lines.append(("resumes", report.resumes))
    for name, text in lines:
        line(console, f"  {name:<12} {text}")


def agent_words(task: Mapping[str, Json]) -> str:
    """Return an agent's options as one line."""
    harness = task.get("harness")
    parts = [str(task.get("agent"))]
    parts += [str(task[name]) for name in ("model", "effort", "command") if task.get(name)]
    parts += [f"level {task['level']}"] if task.get("level") else []
    parts += [f"with {', '.join(harness)}"] if isinstance(harness, Mapping) else []
    return ", ".join(parts)


def _arms(arms: Sequence[ArmReading], console: Console) -> None:
    """Print pass@k and pass^k of each arm, what it cost and what it read and wrote."""
    names = {name: None for arm in arms for name in arm.metrics.at}
    columns = ["Arm", *[f">pass@{k}" for k in names], *[f">pass^{k}" for k in names if k > 1]]
    rows = []
    for arm in arms:
        metrics = arm.metrics
        rows.append(
            (
                arm.arm,
                *(_share(metrics.at[k]) for k in names),
                *(_share(metrics.hat[k]) for k in names if k > 1),
                f"{metrics.flaky:,}",
                _cost(arm),
                "–" if arm.tokens is None else f"{arm.tokens:,}",
            )
        )
    table(console, (*columns, ">Flaky", ">Cost", ">Tokens"), rows)
    took = [
        f"{f'{arm.arm} ' if len(arms) > 1 else ''}{duration(arm.duration_s / arm.timed)}"
        for arm in arms
        if arm.duration_s is not None
    ]
    if took:
        line(console, f"A trial took {', '.join(took)} on average")
    for arm in arms:
        interval = arm.rate.interval
        if interval is not None:
            of = f" of {arm.arm}" if len(arms) > 1 else ""
            ends = f"{percent(interval.lower)} to {percent(interval.upper)}"
            how = f"{interval.method}, {counted(arm.rate.n, 'task')}"
            line(console, f"{100 * interval.level:g}% interval of pass@1{of}: {ends} ({how})")


def _share(value: SuiteValue) -> str:
    if value.n == value.n_total or value.estimate is None:
        return percent(value.estimate)
    return f"{percent(value.estimate)} ({value.n} of {value.n_total})"


def _cost(arm: ArmReading) -> str:
    if arm.cost_usd is None:
        return "unknown"
    known = "" if arm.costed == arm.trials else f" ({arm.costed} of {arm.trials})"
    return money(arm.cost_usd) + known


def _tasks(reading: EvalReading, console: Console) -> None:
    arms = [arm.arm for arm in reading.arms]
    columns = ("Task", *(f">{arm}" if len(arms) > 1 else ">Passed" for arm in arms), "")
    rows = [
        (
            task.name,
            *(f"{task.arms[arm].passed}/{task.arms[arm].decided}" for arm in arms),
            ", ".join(task_words(task)),
        )
        for task in reading.tasks
    ]
    table(console, columns, rows)


def _failed(trials: Sequence[TrialReading], console: Console) -> None:
    """Print what did not pass, trials of a task that failed alike in one line."""
    if not trials:
        return
    alike: dict[tuple[str, str, str], list[TrialReading]] = {}
    for trial in trials:
        alike.setdefault((trial.task, trial.arm, trial.reason or trial.verdict), []).append(trial)
    section(console, f"Did not pass: {counted(len(trials), 'trial')}")
    for (_, _, reason), same in list(alike.items())[:SHOWN]:
        others = "".join(f", {trial.trial}" for trial in same[1:])
        line(console, f"  {trial_name(same[0])}{others}")
        line(console, f"    {reason}", cut=True)
        first = same[0]
        if first.last_words and first.last_words not in reason:
            line(console, f"    verifier: {first.last_words}", "dim", cut=True)
        for trial in same:
            if trial.session is not None:
                line(console, f"    {session_command(trial.session)}")
            elif trial.transcript_trouble:
                line(console, f"    no session: {trial.transcript_trouble}", "dim")
    more(console, len(alike) - SHOWN)


def _leaks(trials: Sequence[TrialReading], console: Console) -> None:
    if not trials:
        return
    title = f"Saw, or tried to see, what they must not: {counted(len(trials), 'trial')}"
    section(console, title)
    for trial in trials[:SHOWN]:
        for leak in trial.leaks:
            line(console, f"  {trial_name(trial)}  {leak}", "yellow")
    more(console, len(trials) - SHOWN)


def _over_limit(trials: Sequence[TrialReading], console: Console) -> None:
    if trials:
        title = f"Ran over their time, and were graded as they stood: {len(trials):,}"
        section(console, title)
        names = ", ".join(trial_name(trial) for trial in trials[:SHOWN])
        line(console, f"  {names}{' …' if len(trials) > SHOWN else ''}")
