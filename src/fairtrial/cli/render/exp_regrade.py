"""`exp regrade` as text: what flipped and why."""

from __future__ import annotations

from rich.console import Console

from fairtrial.app.reports.regrade import RegradeReport
from fairtrial.cli.render.experiment import render_graders
from fairtrial.cli.render.grader_noise import render_grader_noise
from fairtrial.cli.render.lines import line, more, section
from fairtrial.cli.render.words import counted, percent
from fairtrial.model.experiment import Status
from fairtrial.model.regrade import Flip
from fairtrial.model.wording import excerpt

SHOWN = 20


def render(report: RegradeReport, console: Console) -> None:
    """Print the change of the pass rate, the flips, and what graders could not do."""
    new = report.experiment.state
    origin = report.origin.experiment
    line(console, f"{new.experiment.name}  {new.experiment.id}", "bold")
    kept = report.regrade.kept
    without = f"; {counted(kept, 'trial')} without an output kept the verdict" if kept else ""
    graded = counted(report.regrade.graded, "output")
    line(console, f"{graded} of {origin.name} ({origin.id}) graded again, no task run{without}")
    if new.status is not Status.FINISHED:
        line(console, f"{new.status}: {new.status_reason}", "yellow")
    before, after = report.rate_before.estimate, report.experiment.pass_rate.estimate
    line(console, f"Pass rate  {percent(before)} → {percent(after)}", "bold")
    _flips(report, console)
    render_graders(report.experiment, console)
    _unable(report, console)
    render_grader_noise(report.noise, console)
    section(console, "Next")
    line(console, f"  see the new verdicts:  fairtrial exp show {new.experiment.id}")


def _flips(report: RegradeReport, console: Console) -> None:
    flips = report.regrade.flips
    if not flips:
        section(console, "No verdict flipped")
        return
    section(console, f"Flipped: {counted(len(flips), 'verdict')}")
    for flip in flips[:SHOWN]:
        _flip(flip, console)
    more(console, len(flips) - SHOWN)


def _flip(flip: Flip, console: Console) -> None:
    arm = "" if flip.key.arm == "main" else f" arm {flip.key.arm}"
    name = f"{excerpt(str(flip.key.case_key), 80)}{arm} trial {flip.key.trial}"
    line(console, f"  {name}  {flip.before} → {flip.after}")
    if flip.reason_before:
        line(console, f"    was: {flip.reason_before}", cut=True)
    if flip.reason_after:
        line(console, f"    now: {flip.reason_after}", cut=True)


def _unable(report: RegradeReport, console: Console) -> None:
    if report.regrade.unable:
        section(console, "Could not grade the stored outputs")
        for unable in report.regrade.unable:
            reason = f": {unable.reason}" if unable.reason else ""
            text = f"  {unable.grader}  {unable.missing:,} of {unable.total:,}{reason}"
            line(console, text, cut=True)
