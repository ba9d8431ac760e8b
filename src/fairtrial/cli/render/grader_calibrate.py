"""`grader calibrate` as text: the verdict, the matrix, and where grader and people differ."""

from __future__ import annotations

from rich.console import Console

from fairtrial.analysis.judge_calibration import ALL, JudgeCalibration, Opinion, Part, Standing
from fairtrial.app.reports.calibration import CalibrationReport
from fairtrial.cli.render.lines import line, more, section, table
from fairtrial.cli.render.opinions import kappa_alone
from fairtrial.cli.render.words import counted, money, percent
from fairtrial.stats.agreement.confusion import Confusion
from fairtrial.stats.interval import Interval

SHOWN = 5
"""Outputs of a kind that are listed; `--json` has them all."""
_STYLES = {Standing.TRUSTED: "bold green", Standing.DOUBTED: "bold red"}


def render(report: CalibrationReport, console: Console) -> None:
    """Print the verdict first: the rest is its ground."""
    found = report.calibration
    line(console, found.sentence, _STYLES.get(found.standing, "bold yellow"))
    _evidence(found, console)
    _not_evidence(found, console)
    _listed("Where they differ", [one for one in report.opinions if one.differs], console)
    _listed("Without an answer", [o for o in report.opinions if o.score.passed is None], console)
    _left_out(report, console)


def _evidence(found: JudgeCalibration, console: Console) -> None:
    part = found.evidence
    where = "All labelled cases" if found.split == ALL else f"Split {found.split}"
    section(console, f"{where}: {counted(len(part.opinions), 'label')}")
    if found.split == ALL:
        line(console, "  ! also cases that the grader was made on: it agrees best there", "yellow")
    counts = part.calibration.confusion
    if counts is None:
        line(console, f"  ! {part.calibration.reason}", "yellow")
        return
    _matrix(counts, console)
    _rate("TPR: what people pass, it passes", counts.tpr, counts.tpr_interval, console)
    _rate("TNR: what people fail, it fails", counts.tnr, counts.tnr_interval, console)
    line(console, f"  {'κ: agreement beyond chance':<33} {kappa_alone(part.calibration.kappa)}")
    line(console, f"  people pass {percent(part.prevalence)} of these outputs")


def _matrix(counts: Confusion, console: Console) -> None:
    rows = [
        ("  grader passes", f"{counts.tp:,} ✓", f"{counts.fp:,} ✗"),
        ("  grader fails", f"{counts.fn:,} ✗", f"{counts.tn:,} ✓"),
    ]
    table(console, ("", ">people pass", ">people fail"), rows)


def _rate(what: str, share: float | None, span: Interval | None, console: Console) -> None:
    interval = "" if span is None else f" [{percent(span.lower)}, {percent(span.upper)}]"
    line(console, f"  {what:<33} {percent(share)}{interval}")


def _not_evidence(found: JudgeCalibration, console: Console) -> None:
    part: Part = found.others
    if not part.opinions:
        return
    section(console, f"Other splits: {counted(len(part.opinions), 'label')}, no evidence")
    counts = part.calibration.confusion
    if counts is not None:
        line(
            console,
            f"  same verdict on {counts.tp + counts.tn:,} of {counts.n:,} "
            f"(TPR {percent(counts.tpr)}, TNR {percent(counts.tnr)}); the grader may have been "
            "made on these cases",
            "dim",
        )


def _listed(title: str, opinions: list[Opinion], console: Console) -> None:
    if not opinions:
        return
    section(console, f"{title}: {counted(len(opinions), 'output')}")
    for opinion in opinions[:SHOWN]:
        human = "pass" if opinion.human else "fail"
        split = f" ({opinion.split})" if opinion.split else ""
        text = f"  {opinion.key}{split}  people: {human}; {opinion.score.reason or 'no reason'}"
        line(console, text, cut=True)
    more(console, len(opinions) - SHOWN)


def _left_out(report: CalibrationReport, console: Console) -> None:
    console.print()
    if report.unknown:
        named = ", ".join(report.unknown[:SHOWN]) + (" …" if len(report.unknown) > SHOWN else "")
        line(console, f"! labels of unknown cases ignored: {named}", "yellow")
    if report.skipped:
        line(console, f"{counted(report.skipped, 'label')} skipped by people", "dim")
    cost = "" if not report.cost_usd else f", {money(report.cost_usd)}"
    line(console, f"{counted(len(report.opinions), 'output')} graded{cost}", "dim")
