"""`sessions list` as text."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.sessions import SessionsReport
from fairtrial.cli.render.lines import line, table
from fairtrial.cli.render.sessions import ended, names, place, short_id, title
from fairtrial.cli.render.words import money
from fairtrial.ports.sessions import FlaggedSession


def render(report: SessionsReport, console: Console) -> None:
    """Print a page of sessions."""
    if not report.sessions:
        hint = "no session fits" if report.filtered else "no session is captured"
        line(console, f"{hint.capitalize()}. Read new ones with: fairtrial sessions sync")
        return
    columns = ("Session", "Ended", "Agent", "Repo", "State", ">Calls", ">Cost", "Flags", "Prompt")
    table(console, columns, [_row(found) for found in report.sessions])
    if report.more:
        last = report.sessions[-1].session
        line(console, f"Earlier ones: fairtrial sessions list --before {short_id(last)}", "dim")


def _row(found: FlaggedSession) -> tuple[str, ...]:
    session = found.session
    return (
        short_id(session),
        ended(session),
        session.agent,
        place(session),
        session.state.value,
        f"{session.counts.calls:,}",
        money(session.cost_usd),
        names(found.flags),
        title(session),
    )
