"""`calls list` as text."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.calls import CallsReport
from fairtrial.cli.render.calls import outcome, place, subject, tokens_in_words
from fairtrial.cli.render.lines import line, table
from fairtrial.cli.render.words import duration, money, when
from fairtrial.model.command_line import option
from fairtrial.model.recorded_call import RecordedCall


def render(report: CallsReport, console: Console) -> None:
    """Print a page of calls."""
    if not report.calls and report.where is not None:
        line(console, "No call fits the filter")
        return
    if not report.calls:
        line(console, "No such call. Record some with: fairtrial proxy -- COMMAND")
        return
    columns = ("Call", "When", "Model", "Status", ">Tokens", ">Cost", "Took")
    table(console, columns, [_row(call) for call in report.calls])
    if report.more:
        where = "" if report.where is None else f" {option('--where', report.where)}"
        last = report.calls[-1].id
        line(console, f"Older ones: fairtrial calls list{where} --before {last}", "dim")


def _row(call: RecordedCall) -> tuple[str, ...]:
    return (
        place(call),
        when(call.started_at),
        subject(call),
        outcome(call),
        tokens_in_words(call.tokens),
        money(call.cost_usd),
        duration(call.duration_s),
    )
