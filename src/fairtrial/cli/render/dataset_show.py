"""`dataset show` as text."""

from __future__ import annotations

import json

from rich.console import Console

from fairtrial.app.reports.dataset import CasesReport
from fairtrial.cli.render.dataset_list import splits
from fairtrial.cli.render.lines import block, line, more
from fairtrial.cli.render.words import counted, when
from fairtrial.model.case import Case


def render(report: CasesReport, console: Console) -> None:
    """Print a version, then its first cases a line each, or one case whole."""
    version = report.version
    line(console, f"{version.ref}  {counted(version.n_cases, 'case')}", "bold")
    line(console, f"hash {version.digest}, added {when(version.created_at)}", "dim")
    line(console, f"splits: {splits(version)}")
    for case in report.cases:
        if report.whole:
            block(console, json.dumps(case.content(), ensure_ascii=False, indent=2), "  ")
        else:
            _case(case, console)
    if not report.whole:
        more(console, version.n_cases - len(report.cases))


def _case(case: Case, console: Console) -> None:
    shown = json.dumps(case.input, ensure_ascii=False)[:300]
    expected = json.dumps(case.expected, ensure_ascii=False)[:100]
    line(console, f"  {case.key}  {shown}  → {expected}", cut=True)
