"""Rows that a filter fits, as text."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from fairtrial.app.reports.rows import RowsReport
from fairtrial.cli.render.lines import line, table
from fairtrial.cli.render.words import counted, duration, money, number
from fairtrial.model.command_line import option
from fairtrial.model.row import Row
from fairtrial.model.trial import MAIN_ARM

_COLUMNS = (
    "Case",
    "Condition",
    "Arm",
    ">Passed",
    ">Undecided",
    ">Score",
    ">Cost",
    ">Took",
    "Why",
)
_ALWAYS = ("Case", ">Passed", ">Score")
_LONGEST_REASON = 60


def render(report: RowsReport, console: Console) -> None:
    """Print a page of rows; a column that says nothing is left out."""
    experiment = report.state.experiment
    fitting = counted(report.n_rows, "row fits", "rows fit")
    line(console, f"{experiment.name} ({experiment.id}): {fitting}", "bold")
    if not report.rows:
        return
    rows = [_row(row) for row in report.rows]
    kept = [at for at, name in enumerate(_COLUMNS) if _says(name, [row[at] for row in rows])]
    table(console, [_COLUMNS[at] for at in kept], [[row[at] for at in kept] for row in rows])
    command = f"fairtrial exp show {experiment.id}"
    if report.next is not None:
        place = f"{option('--where', report.where or '')} {option('--after', report.next)}"
        line(console, f"Further ones: {command} {place}", "dim")
    case = option("--case", report.rows[0].key.case_id)
    line(console, f"One in full: {command} {case}", "dim")


def _says(column: str, cells: Sequence[str]) -> bool:
    silent = {"0", "–", ""}
    if column == "Condition":
        silent.add("clean")
    if column == "Arm":
        silent.add(MAIN_ARM)
    return column in _ALWAYS or any(cell not in silent for cell in cells)


def _row(row: Row) -> tuple[str, ...]:
    mean = row.score_sum / row.scored if row.scored and row.score_sum is not None else None
    return (
        row.key.case_id,
        row.key.condition,
        row.arm,
        f"{row.passed:,} of {row.decided:,}",
        f"{row.undecided:,}",
        number(mean),
        money(row.cost_usd),
        duration(row.mean_duration_s),
        (row.first_reason or "").partition("\n")[0][:_LONGEST_REASON],
    )
