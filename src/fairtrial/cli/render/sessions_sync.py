"""`sessions sync` as text."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.session_sync import SyncReport
from fairtrial.cli.render.lines import line, more
from fairtrial.cli.render.words import counted, quantity

_SHOWN = 5


def render(report: SyncReport, console: Console) -> None:
    """Say what is new."""
    for trouble in report.troubles[:_SHOWN]:
        line(console, trouble, "red")
    more(console, len(report.troubles) - _SHOWN)
    if not report.files:
        line(console, f"No transcripts in {', '.join(report.places)}")
        return
    files = counted(report.files, "transcript")
    if not report.read:
        line(console, f"Nothing new in {files}")
        return
    flagged = f", {report.flagged:,} of them flagged" if report.flagged else ""
    sessions = counted(len(report.sessions), "session")
    size = quantity("read_bytes", report.bytes)
    line(console, f"{sessions} new or changed{flagged}: read {size} of {files}")
    line(console, "See them with: fairtrial sessions list", "dim")
