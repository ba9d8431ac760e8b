"""`key list` as text."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.keys import KeysReport
from fairtrial.cli.render.lines import line, table
from fairtrial.cli.render.words import when


def render(report: KeysReport, console: Console) -> None:
    """Print keys as a table."""
    if not report.keys:
        line(console, "No key yet. Make one with: fairtrial key create NAME")
        return
    rows = [
        (
            key.name,
            key.scope.value if key.project is None else f"{key.scope.value} in {key.project}",
            key.id,
            when(key.created_at),
            "–" if key.revoked_at is None else when(key.revoked_at),
        )
        for key in report.keys
    ]
    table(console, ("Name", "Scope", "Id", "Made", "Revoked"), rows)
