"""`sessions list` as text."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.sessions import SessionsReport
from fairtrial.cli.render.lines import line, table
from fairtrial.cli.render.sessions import ended, names, place, short_id, title
from fairtrial.cli.render.words import money
from fairtrial.model.command_line import option
from fairtrial.ports.sessions import FlaggedSession

_COLUMNS = ("Session", "Ended", "Agent", "Repo", "State", ">Cost", "Flags")
_GAP = 2
_SHORTEST_TITLE, _LONGEST_TITLE = 16, 60


def render(report: SessionsReport, console: Console) -> None:
    """Print a page of sessions; what was asked gets the room that is left."""
    if not report.sessions:
        filtered = report.where is not None or report.since is not None
        hint = "no session fits" if filtered else "no session is captured"
        line(console, f"{hint.capitalize()}. Read new ones with: fairtrial sessions sync")
        return
    rows = [_row(found) for found in report.sessions]
    widths = [max(map(len, column)) + _GAP for column in zip(_COLUMNS, *rows, strict=True)]
    left = min(max(console.width - sum(widths), _SHORTEST_TITLE), _LONGEST_TITLE)
    titled = [
        (*row, title(found.session, left)) for row, found in zip(rows, report.sessions, strict=True)
    ]
    table(console, (*_COLUMNS, "Prompt"), titled)
    if report.more:
        given = {"--where": report.where, "--since": report.since}
        options = [option(flag, value) for flag, value in given.items() if value is not None]
        options.append(f"--before {short_id(report.sessions[-1].session)}")
        line(console, f"Earlier ones: fairtrial sessions list {' '.join(options)}", "dim")


def _row(found: FlaggedSession) -> tuple[str, ...]:
    session = found.session
    return (
        short_id(session),
        ended(session),
        session.agent,
        place(session),
        session.state.value,
        money(session.cost_usd),
        names(found.flags),
    )
