"""`sessions checkout` as text."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.session_start import CheckoutReport
from fairtrial.cli.render.lines import line
from fairtrial.cli.render.session_start import show_start
from fairtrial.cli.render.words import counted


def render(report: CheckoutReport, console: Console) -> None:
    """Say what was written, and how sure it is."""
    line(console, f"{counted(report.laid_out.files, 'file')} written to {report.folder}")
    show_start(report.state, console)
    for path, reason in report.laid_out.skipped:
        line(console, f"  not written: {path}: {reason}", "red")
