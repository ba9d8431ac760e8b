"""`exp status` as text."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.further_tries import FurtherTries
from fairtrial.app.reports.status import (
    StatusReport,
    SweepStatus,
    expected_cost,
    expected_trials,
    resume_command,
    seconds_left,
)
from fairtrial.cli.render.lines import line
from fairtrial.cli.render.words import counted, duration, money, percent, reused, spent
from fairtrial.model.experiment import ExperimentState, Status


def render(report: StatusReport, console: Console) -> None:
    """Print how each experiment stands, and how to go on with those that stopped."""
    if not report.states and not report.sweeps:
        line(console, "Every experiment is finished. See them with: fairtrial exp list")
    for state in report.states:
        _run(state, report.further_of(state), console)
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


def _run(state: ExperimentState, further: FurtherTries | None, console: Console) -> None:
    experiment, totals = state.experiment, state.totals
    reason = f": {state.status_reason}" if state.status_reason else ""
    line(console, f"{experiment.name}  {experiment.id}  {state.standing}{reason}", "bold")
    passed = percent(totals.passed / totals.decided) if totals.decided else "–"
    parts = [
        _progress(state),
        f"passed {passed} of {totals.decided:,}",
        f"{totals.undecided:,} undecided",
    ]
    if further is not None and further.count:
        kind = "attempt" if experiment.spec["design"]["kind"] == "seq" else "rerun"
        parts.append(counted(further.count, f"further {kind}"))
    left = seconds_left(state, further)
    if left is not None:
        parts.append(f"{duration(left)} left")
    costs = spent(totals.cost_usd, totals.grading_cost_usd)
    if further is not None and further.cost_usd:
        costs.append(f"trying again {money(further.cost_usd)}")
    if costs:
        expected = expected_cost(state, further)
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


def _progress(state: ExperimentState) -> str:
    """Return how many trials are on record, of how many that will be."""
    experiment, done = state.experiment, state.totals.recorded
    expected = expected_trials(state)
    share = percent(done / expected if expected else 0.0)
    if not experiment.may_run_fewer or expected == experiment.n_planned:
        most = "at most " if experiment.may_run_fewer else ""
        return f"{done:,} of {most}{experiment.n_planned:,} trials ({share})"
    if state.status is Status.FINISHED:
        return f"{done:,} of at most {experiment.n_planned:,} trials, no more were needed"
    return f"{done:,} of about {expected:,}, at most {experiment.n_planned:,} trials ({share})"
