"""`dataset diff` as text."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from fairtrial.app.reports.dataset import DiffReport
from fairtrial.cli.render.lines import line, more
from fairtrial.cli.render.words import counted

SHOWN = 20


def render(report: DiffReport, console: Console) -> None:
    """Print the cases that were added, removed and changed, and in which fields."""
    diff = report.diff
    line(console, f"{report.a.ref} → {report.b.ref}", "bold")
    if diff.is_empty:
        line(console, "the same cases in the same order")
        return
    line(
        console,
        f"{len(diff.added):,} added, {len(diff.removed):,} removed, "
        f"{len(diff.changed):,} changed, {counted(diff.same, 'case')} the same"
        + ("; the order changed" if diff.moved else ""),
    )
    _list("+", [str(key) for key in diff.added], console)
    _list("-", [str(key) for key in diff.removed], console)
    changed = [f"{key}  {', '.join(report.fields[key])}" for key in diff.changed]
    _list("~", changed, console)


def _list(mark: str, entries: Sequence[str], console: Console) -> None:
    for entry in entries[:SHOWN]:
        line(console, f"  {mark} {entry}", cut=True)
    more(console, len(entries) - SHOWN)
