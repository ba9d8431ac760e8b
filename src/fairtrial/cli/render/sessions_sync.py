"""`sessions sync` as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtrial.app.reports.session_sync import SyncReport

if TYPE_CHECKING:
    from rich.console import Console

_SHOWN = 5


def plain(report: SyncReport) -> str | None:
    """Return the line that says that nothing is new; None when there is more to say."""
    if report.troubles or report.read or not report.files:
        return None
    return f"Nothing new in {report.files:,} transcript{'' if report.files == 1 else 's'}\n"


def render(report: SyncReport, console: Console) -> None:
    """Say what is new."""
    # rich takes 40 ms, which `plain` does without.
    from fairtrial.cli.render.lines import line, more  # noqa: PLC0415
    from fairtrial.cli.render.words import counted, quantity  # noqa: PLC0415

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
