"""`key create` as text."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.keys import CreatedKeyReport
from fairtrial.cli.render.lines import line


def render(report: CreatedKeyReport, console: Console) -> None:
    """Print the key, and that it is shown once."""
    may = "read" if report.key.scope.value == "read" else "read and write"
    only = "" if report.key.project is None else f" in project {report.key.project} alone"
    line(console, f"Key {report.key.name} ({report.key.id}) may {may}{only}.")
    line(console, f"  {report.token}")
    line(console, "It is not shown again. Send it as  Authorization: Bearer KEY")
