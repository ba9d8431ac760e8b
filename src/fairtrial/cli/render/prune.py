"""`prune` as text."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.prune import PruneReport
from fairtrial.cli.render.lines import line, table
from fairtrial.cli.render.words import quantity


def render(report: PruneReport, console: Console) -> None:
    """Print what was removed, and the room that the store takes."""
    title = "Would be removed" if report.dry_run else "Removed"
    table(console, ("What", f">{title}"), [(kind, f"{n:,}") for kind, n in report.removed.items()])
    before = quantity("bytes_before_bytes", report.bytes_before)
    if report.dry_run:
        line(console, f"The store takes {before}; nothing was removed")
        return
    after = quantity("bytes_after_bytes", report.bytes_after)
    line(console, f"The store took {before}, now {after}")
    if report.compacted is False:
        line(
            console,
            "Another process is using the store: its file keeps its size, and may keep remains of "
            "what an older version removed, until prune runs alone",
            "yellow",
        )
