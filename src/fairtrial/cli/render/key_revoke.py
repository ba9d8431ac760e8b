"""`key revoke` as text."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.keys import RevokedKeyReport
from fairtrial.cli.render.lines import line


def render(report: RevokedKeyReport, console: Console) -> None:
    """Say which key is good no more."""
    line(console, f"Revoked {report.key.name} ({report.key.id})")
