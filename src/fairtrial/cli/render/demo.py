"""`demo` as text."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.demo import DemoReport
from fairtrial.cli.render.experiment import render_experiment
from fairtrial.cli.render.lines import line, section


def render(report: DemoReport, console: Console) -> None:
    """Print both summaries and what to try next."""
    for experiment in (report.baseline, report.candidate):
        render_experiment(experiment, console, next_steps=False)
        line(console, "─" * 60, "dim")
    line(console, "Two programs read the total off 40 invoices, three times each.")
    section(console, "Next")
    if report.kept is None:
        line(console, "  keep all of this to go on from:  fairtrial demo --keep my-first-trial")
        line(console, "  your own cases:  fairtrial dataset add NAME cases.jsonl")
        line(console, "  your own task:  fairtrial exp run --help")
        return
    home = f"FAIRTRIAL_HOME={report.kept / 'store'}"
    line(console, f"  look around:  cd {report.kept}; export {home}")
    line(console, "  one case in full:  fairtrial exp show candidate --case inv-06")
    line(console, "  mend candidate.py, then:  fairtrial exp run candidate.yaml")
