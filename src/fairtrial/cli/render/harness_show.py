"""`harness show` as text."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.harness import HarnessReport, Told, size, tokens
from fairtrial.cli.render.lines import block, line, section, table
from fairtrial.cli.render.words import counted
from fairtrial.harness.belonging import Part, part_of


def render(report: HarnessReport, console: Console) -> None:
    """Print the files, and what each agent is told; with an agent, the texts themselves."""
    harness = report.harness
    line(console, f"{harness.label}: {counted(len(harness.files), 'file')}", "bold")
    if harness.files and not report.in_full:
        table(console, ("File", "Part", ">Bytes"), [_row(report, path) for path in harness.files])
    for path, number in report.conflicts.items():
        line(console, f"{path} has a merge conflict at line {number}", "red")
    for note in harness.notes:
        line(console, note, "yellow")
    for told in report.told:
        _told(told, report, console)


def _row(report: HarnessReport, path: str) -> tuple[str, str, str]:
    link = report.harness.links.get(path)
    shown = path if link is None else f"{path} → {link}"
    part = part_of(path) or Part.IMPORTED
    return shown, part.value, f"{size(report.harness.files[path]):,}"


def _told(told: Told, report: HarnessReport, console: Console) -> None:
    where = f"in {report.cwd}" if report.cwd else "in the root"
    total = sum(tokens(one.text) for one in told.texts)
    if not told.texts and not told.listed:
        section(console, f"{told.agent}, started {where}, is told nothing")
        return
    section(console, f"{told.agent}, started {where}, is told about {counted(total, 'token')}")
    for number, one in enumerate(told.texts, start=1):
        length, about = counted(size(one.text), "byte"), counted(tokens(one.text), "token")
        line(console, f"  {number}. {one.path}  {length}, about {about}")
        if report.in_full:
            block(console, one.text)
    for listed in told.listed:
        line(console, f"  lists {listed.removeprefix('- ')}", "dim", cut=not report.in_full)
