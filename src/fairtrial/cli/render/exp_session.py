"""`exp session` as text: a timeline."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.logbook import LogbookReport, Noted, Ran
from fairtrial.cli.render.lines import block, line
from fairtrial.cli.render.words import counted, percent, when

BAR = 20


def render(report: LogbookReport, console: Console) -> None:
    """Print what was done, or the timeline."""
    book = report.logbook
    if report.action == "new":
        line(console, f"Session {book.name} begins in {book.project}", "bold")
        line(console, "Each exp run there joins it; --no-session keeps one out.")
        return
    if report.action == "note":
        line(console, f"Noted in session {book.name}.")
        return
    state = "open" if book.closed_at is None else f"until {when(book.closed_at)}"
    line(console, f"Session {book.name}  {book.id}", "bold")
    line(console, f"{book.project}, since {when(book.created_at)}, {state}", "dim")
    if not report.entries:
        line(console, "Nothing in it yet.")
    for entry in report.entries:
        console.print()
        if isinstance(entry, Noted):
            line(console, f"{when(entry.at)}  note", "dim")
            block(console, entry.text)
        else:
            _run(entry, console)
    _end(report, console)


def _run(entry: Ran, console: Console) -> None:
    experiment, rate = entry.state.experiment, entry.rate.estimate
    bar = "" if rate is None else f"  {'█' * round(BAR * rate):<{BAR}}"
    passed = f"{percent(rate)}{bar}"
    line(console, f"{when(entry.at)}  run {entry.number}  {experiment.name}  {experiment.id}")
    line(console, f"    passed {passed}  {counted(entry.rate.n, 'case')}", "bold")
    if entry.delta is not None:
        line(console, f"    {entry.delta.sentence()}")


def _end(report: LogbookReport, console: Console) -> None:
    if report.tried:
        console.print()
    for one in report.tried:
        line(console, one.sentence())
