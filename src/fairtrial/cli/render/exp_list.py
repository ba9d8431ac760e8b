"""`exp list` as text."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from fairtrial.app.reports.experiments import ExperimentsReport
from fairtrial.cli.render.lines import line, table
from fairtrial.cli.render.words import flips, money, when
from fairtrial.model.baseline import AgainstBaseline
from fairtrial.model.command_line import option
from fairtrial.model.experiment import ExperimentState, Status

_AGAINST = ">Flips"


def render(report: ExperimentsReport, console: Console) -> None:
    """Print a page of experiments."""
    if not report.states and report.where is not None:
        line(console, "No experiment fits the filter")
        return
    if not report.states:
        line(console, "No experiment yet. Start with: fairtrial demo")
        return
    columns = (
        "Id",
        "Name",
        "Dataset",
        "Status",
        ">Passed",
        _AGAINST,
        ">Undecided",
        ">Cost",
        "When",
    )
    rows = [_row(*both) for both in zip(report.states, report.against, strict=True)]
    # A terminal is narrow: what no experiment has is left out.
    kept = [i for i, name in enumerate(columns) if _says_something(name, [r[i] for r in rows])]
    table(console, [columns[i] for i in kept], [[row[i] for i in kept] for row in rows])
    if report.more:
        last = report.states[-1].experiment.id
        where = "" if report.where is None else f" {option('--where', report.where)}"
        more = "Older ones" if report.sort == "newest" else "The next ones"
        sort = "" if report.sort == "newest" else f" --sort {report.sort}"
        line(console, f"{more}: fairtrial exp list{where}{sort} --before {last}", "dim")


def _says_something(column: str, cells: Sequence[str]) -> bool:
    return column not in (">Undecided", ">Cost", _AGAINST) or any(
        cell not in ("0", "–") for cell in cells
    )


def _row(state: ExperimentState, against: AgainstBaseline) -> tuple[str, ...]:
    experiment, totals = state.experiment, state.totals
    share = totals.passed / totals.decided if totals.decided else None
    status = "died" if state.died else state.status.value
    if state.status is not Status.FINISHED:
        status += f" {totals.recorded:,}/{experiment.n_planned:,}"
    return (
        experiment.id,
        experiment.name,
        experiment.on_dataset,
        status,
        f"{_short(share)} of {totals.decided:,}",
        flips(against.flips),
        f"{totals.undecided:,}",
        money(totals.cost_usd),
        when(experiment.created_at),
    )


def _short(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.3g}%"
