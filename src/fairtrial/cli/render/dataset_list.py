"""`dataset list` as text."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.dataset import VersionsReport
from fairtrial.cli.render.lines import line, table
from fairtrial.cli.render.words import when
from fairtrial.model.dataset import DatasetVersion


def render(report: VersionsReport, console: Console) -> None:
    """Print versions as a table."""
    if not report.versions:
        line(console, "No dataset yet. Add one with: fairtrial dataset add NAME FILE")
        return
    columns = ("Dataset", ">Cases", "Splits", "Hash", "Added")
    table(console, columns, [_row(version) for version in report.versions])


def _row(version: DatasetVersion) -> tuple[str, ...]:
    return (
        version.ref,
        f"{version.n_cases:,}",
        splits(version),
        version.digest[:12],
        when(version.created_at),
    )


def splits(version: DatasetVersion) -> str:
    """Return the cases per split in words; a dash when there are none."""
    named = [f"{name or 'none'} {count:,}" for name, count in sorted(version.splits.items())]
    return ", ".join(named) if set(version.splits) - {""} else "–"
