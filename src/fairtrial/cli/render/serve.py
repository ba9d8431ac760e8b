"""`serve` as text: lines that are printed as things happen."""

from __future__ import annotations

from fairtrial.app.reports.serve import ServeReport
from fairtrial.cli.harmless import harmless
from fairtrial.cli.render.words import counted
from fairtrial.model.events import ServerStarted, SessionsReceived


def started_lines(event: ServerStarted) -> str:
    """Return where a server listens, and how to end it."""
    lines = [f"Serving on {event.url}"]
    if event.exposed:
        lines.append(
            "Other machines can reach it: every request needs a key (fairtrial key create), and "
            "what passes is not encrypted."
        )
    lines.append("Ctrl-C ends it.")
    return "".join(f"{harmless(line)}\n" for line in lines)


def received_line(event: SessionsReceived) -> str:
    """Return which sessions came in."""
    return harmless(f"received {', '.join(event.sessions)}") + "\n"


def ended_lines(report: ServeReport) -> str:
    """Return what a server did."""
    said = [f"{counted(report.requests, 'request')} answered"]
    if report.refused:
        said.append(f"{report.refused:,} of them refused")
    if report.sessions:
        said.append(f"{counted(report.sessions, 'session')} received")
    return harmless(", ".join(said)) + "\n"
