"""An experiment's summary as text."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from fairtrial.app.reports.experiment import ExperimentReport
from fairtrial.cli.render.words import counted, duration, money, number, percent, when
from fairtrial.model.experiment import Status
from fairtrial.model.row import Row
from fairtrial.model.trial import Trial
from fairtrial.model.verdict import Cause

CAUSES = {
    Cause.TASK: ("Task errors", "the task itself failed: counted as failed"),
    Cause.LIMIT: ("Over the time limit", "counted as failed"),
    Cause.INFRA: ("Infrastructure", "undecided: in no rate"),
    Cause.GRADER: ("Grader could not answer", "undecided: in no rate; the output is kept"),
    Cause.UNDECIDABLE: ("Undecidable", "undecided: in no rate"),
    Cause.INTERNAL: ("Defects of fairtrial", "undecided: in no rate; please report them"),
}
BAR = 40


def render_experiment(report: ExperimentReport, console: Console) -> None:
    """Print the summary: what it came to, per grader, what went wrong, what to do next."""
    _headline(report, console)
    _graders(report, console)
    _failures(report, console)
    _flaky(report, console)
    _problems(report, console)
    _slowest(report, console)
    _next(report, console)


def _headline(report: ExperimentReport, console: Console) -> None:
    state = report.state
    experiment, totals = state.experiment, state.totals
    console.print(
        Text.assemble(
            (experiment.name, "bold"),
            f"  {experiment.id}  {experiment.dataset}@{experiment.dataset_number}  "
            f"{when(experiment.created_at)}",
        )
    )
    trials = f" × {experiment.trials} trials" if experiment.trials > 1 else ""
    parts = [
        f"{counted(experiment.n_cases, 'case')}{trials}",
        f"{counted(totals.recorded, 'trial')} recorded",
        f"{totals.passed:,} passed",
        f"{totals.failed:,} failed",
        f"{totals.undecided:,} undecided",
    ]
    if totals.cost_usd is not None:
        known = "" if totals.costed == totals.recorded else f" (known for {totals.costed:,})"
        parts.append(money(totals.cost_usd) + known)
    console.print(", ".join(parts))
    if state.status is not Status.FINISHED:
        left = experiment.n_planned - totals.recorded
        reason = f": {state.status_reason}" if state.status_reason else ""
        text = f"{state.status.value}{reason}; {counted(left, 'trial')} left to run"
        console.print(Text(text, style="yellow"))
    console.print()
    _rate(report, console)


def _rate(report: ExperimentReport, console: Console) -> None:
    rate = report.pass_rate
    if rate.estimate is None or rate.interval is None:
        console.print(Text(f"Pass rate  none: {rate.reason}", style="bold"))
        return
    low, high = rate.interval.lower, rate.interval.upper
    level = f"{100 * rate.interval.level:g}%"
    console.print(
        Text.assemble(
            ("Pass rate  ", "bold"),
            (percent(rate.estimate), "bold green"),
            f"  {level} interval {percent(low)} to {percent(high)}  "
            f"({rate.interval.method}, {counted(rate.n, 'case')})",
        )
    )
    console.print(Text("           " + _interval_bar(low, rate.estimate, high)))


def _interval_bar(low: float, estimate: float, high: float) -> str:
    """Draw 0 to 100 % as a line, the interval thick, the estimate as a dot."""
    cells = ["─"] * (BAR + 1)
    first, last = round(low * BAR), round(high * BAR)
    cells[first : last + 1] = "━" * (last + 1 - first)
    cells[round(estimate * BAR)] = "●"
    return f"0% {''.join(cells)} 100%"


def _graders(report: ExperimentReport, console: Console) -> None:
    table = _table("Grader", "Mean", "Scored", "Passed")
    for totals in report.graders:
        table.add_row(
            totals.grader,
            number(totals.mean),
            f"{totals.scored:,} / {totals.total:,}",
            percent(totals.passed / totals.scored if totals.scored else None),
        )
    if report.graders:
        console.print()
        console.print(table)


def _failures(report: ExperimentReport, console: Console) -> None:
    if report.n_failed_rows:
        _section(console, f"Failed in at least one trial ({report.n_failed_rows:,})")
        _rows(report.failed_rows, report.n_failed_rows, console)


def _flaky(report: ExperimentReport, console: Console) -> None:
    total = report.state.totals.flaky_rows
    if total:
        _section(console, f"Flaky: passed in some trials, failed in others ({total:,})")
        names = ", ".join(f"{row.key} {row.passed}/{row.decided}" for row in report.flaky_rows)
        more = " …" if total > len(report.flaky_rows) else ""
        console.print(Text(f"  {names}{more}"))


def _problems(report: ExperimentReport, console: Console) -> None:
    for cause, trials in report.problems.items():
        title, meaning = CAUSES[cause]
        total = report.state.totals.causes[cause]
        _section(console, f"{title} ({total:,}): {meaning}")
        for trial in trials[:5]:
            console.print(_trial_line(trial))
        _more(total - len(trials[:5]), console)


def _slowest(report: ExperimentReport, console: Console) -> None:
    rows = report.slowest_rows[:3]
    if rows:
        names = ", ".join(
            f"{row.key} {duration(row.duration_s / (row.decided + row.undecided))}" for row in rows
        )
        _section(console, "Slowest cases")
        console.print(Text(f"  {names}"))


def _next(report: ExperimentReport, console: Console) -> None:
    if report.next_steps:
        _section(console, "Next")
        for command, does in report.next_steps:
            console.print(Text(f"  {command}   {does}"), soft_wrap=True)


def _rows(rows: Sequence[Row], total: int, console: Console) -> None:
    for row in rows:
        reason = f"  {row.first_reason}" if row.first_reason else ""
        line = Text(f"  {row.key}  {row.passed}/{row.decided} passed{reason}")
        console.print(line, no_wrap=True, overflow="ellipsis")
    _more(total - len(rows), console)


def _trial_line(trial: Trial) -> Text:
    text = f"  {trial.key.case_key} trial {trial.key.trial}  {trial.reason or ''}"
    return Text(text, no_wrap=True, overflow="ellipsis")


def _more(left: int, console: Console) -> None:
    if left > 0:
        console.print(Text(f"  … and {left:,} more", style="dim"))


def _section(console: Console, title: str) -> None:
    console.print()
    console.print(Text(title, style="bold"))


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold")
    for index, column in enumerate(columns):
        table.add_column(column, justify="left" if index == 0 else "right")
    return table
