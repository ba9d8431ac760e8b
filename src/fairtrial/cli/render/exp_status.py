"""`exp status` as text."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.status import (
    StatusReport,
    SweepStatus,
    expected_cost,
    resume_command,
    seconds_left,
)
from fairtrial.cli.render.lines import line
from fairtrial.cli.render.words import counted, duration, money, percent, reused, spent
from fairtrial.model.experiment import ExperimentState


def render(report: StatusReport, console: Console) -> None:
    """Print how each experiment stands, and how to go on with those that stopped."""
    if not report.states and not report.sweeps:
        line(console, "Every experiment is finished. See them with: fairtrial exp list")
    for state in report.states:
        _run(state, console)
    for sweep in report.sweeps:
        _sweep(sweep, console)


def _sweep(sweep: SweepStatus, console: Console) -> None:
    first = sweep.sweep.plan["phases"][0]
    many = len(sweep.sweep.plan["arms"])
    title = f"{first['name']}  sweep of {counted(many, 'configuration')} on {first['dataset']}"
    line(console, f"{title}  {sweep.sweep.id}", "bold")
    stands = "at work" if sweep.at_work else "not begun" if sweep.state is None else "interrupted"
    of = f"phase {sweep.number} of at most {sweep.phases}"
    line(console, f"  {of}: {sweep.phase}, {stands}")
    if sweep.resume is not None:
        line(console, f"  go on:  {sweep.resume}")


def _run(state: ExperimentState, console: Console) -> None:
    experiment, totals = state.experiment, state.totals
    reason = f": {state.status_reason}" if state.status_reason else ""
    line(console, f"{experiment.name}  {experiment.id}  {state.standing}{reason}", "bold")
    share = totals.recorded / experiment.n_planned if experiment.n_planned else 0.0
    most = "at most " if experiment.may_run_fewer else ""
    passed = percent(totals.passed / totals.decided) if totals.decided else "–"
    parts = [
        f"{totals.recorded:,} of {most}{experiment.n_planned:,} trials ({percent(share)})",
        f"passed {passed} of {totals.decided:,}",
        f"{totals.undecided:,} undecided",
    ]
    left = seconds_left(state)
    if left is not None:
        parts.append(f"{duration(left)} left")
    costs = spent(totals.cost_usd, totals.grading_cost_usd)
    if costs:
        expected = expected_cost(state)
        whole = "" if expected is None else f" of about {money(expected)}"
        parts.append(f"{', '.join(costs)}{whole}")
    limit = experiment.policy.get("max_cost")
    if limit is not None:
        parts.append(f"at most {money(limit)}")
    parts += [reused(one.source, one.calls, one.cost_usd) for one in totals.reused]
    if experiment.series is not None:
        parts.append(f"series {experiment.series}")
    line(console, "  " + ", ".join(parts))
    resume = resume_command(state)
    if resume is not None:
        line(console, f"  run what is left:  {resume}")
