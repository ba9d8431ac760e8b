"""What pairwise judges and people say of a comparison, as text."""

from __future__ import annotations

from rich.console import Console

from fairtrial.analysis.judge_agreement import Calibration, JudgePanel
from fairtrial.analysis.labelled_delta import SHARED, LabelCount, LabelledDelta, LabelReading
from fairtrial.analysis.pairwise_judging import JudgedPairs, PairwiseFinding
from fairtrial.analysis.winner_calibration import WinnerCalibration
from fairtrial.cli.render.lines import line, more, section
from fairtrial.cli.render.words import counted, money, percent
from fairtrial.model.wording import excerpt
from fairtrial.stats.agreement.kappa import Agreement
from fairtrial.stats.interval import Interval
from fairtrial.stats.pairwise import Pairwise
from fairtrial.stats.ppi.difference import CorrectedDifference

SHOWN = 5
"""Reasons and cases that are listed; `--json` has them all."""


def render_judged(judged: JudgedPairs, console: Console) -> None:
    """Print what each pairwise judge found, and how far several agree."""
    for finding in judged.findings:
        _finding(finding, console)
    if judged.agreement is not None:
        _agreement(judged.agreement, console)
    _ignored("labels", "case without a pair", judged.unknown_labels, console)


def render_people(reading: LabelReading, labels: tuple[str, str], console: Console) -> None:
    """Print B − A with and without people's labels.

    Args:
        reading: What the labels came to.
        labels: What to call A and B.
        console: Where to print.
    """
    for found in reading.deltas:
        _labelled(found, labels, console)
    for label, unknown in zip(labels, reading.unknown, strict=True):
        _ignored(f"labels of {label}", "unknown case", unknown, console)
    if reading.shared:
        line(console, f"! {SHARED}", "yellow")


def last_word(reading: LabelReading) -> str | None:
    """Return what people's labels change about the verdict; None when they change nothing."""
    for found in reading.deltas:
        if found.criterion is None and found.headline and found.verdict is not found.alone.verdict:
            return (
                f"But by people's labels B − A is {_difference(found.headline)}: {found.changed}."
            )
    return None


def _finding(finding: PairwiseFinding, console: Console) -> None:
    spec = finding.spec
    model = f" {spec.model}" if spec.model else ""
    section(console, f"Pairwise judge {spec.name} ({spec.provider.kind}{model})")
    if finding.found is not None:
        _result(finding.found, console)
    _losses(finding, console)
    _left_out(finding, console)
    if finding.calibration is not None:
        _calibration(finding.calibration, console)
    asked = f"{counted(finding.calls, 'call')}, {counted(finding.kept, 'answer')} kept from before"
    cost = "" if not finding.calls or finding.cost_usd is None else f", {money(finding.cost_usd)}"
    line(console, f"  {asked}{cost}", "dim")


def _result(found: Pairwise, console: Console) -> None:
    line(
        console,
        f"  B wins {found.wins:,}, loses {found.losses:,} and ties {found.ties:,} of "
        f"{counted(found.n, 'pair')}: {_points(found.net.estimate)}{_span(found.net.interval)}, "
        f"p = {found.test.p_mid:.3g} (sign test, mid-p)",
    )
    line(
        console,
        f"  same answer in both orders: {percent(found.consistent)}; first output twice: "
        f"{found.both_first:,}, second twice: {found.both_second:,}",
    )
    for warning in found.warnings:
        line(console, f"  ! {warning}", "yellow")


def _losses(finding: PairwiseFinding, console: Console) -> None:
    """Print where B loses, in the judge's words: that is what a reader can act on."""
    losses = [pair for pair in finding.pairs if pair.winner == "a"]
    if losses:
        line(console, f"  where B loses ({counted(len(losses), 'pair')}):")
    for pair in losses[:SHOWN]:
        line(console, f"    {pair.key}  {pair.a_first.reason}", cut=True)
    more(console, len(losses) - SHOWN)


def _calibration(found: WinnerCalibration, console: Console) -> None:
    do = "does" if found.outside == 1 else "do"
    outside = f"; {counted(found.outside, 'label')} outside it {do} not count"
    outside *= bool(found.outside)
    if found.interval is None:
        line(console, f"  ! not held against people: {found.reason}{outside}", "yellow")
        return
    low, high = percent(found.interval.lower), percent(found.interval.upper)
    line(
        console,
        f"  against people, on the test split: the same winner in {found.agreed:,} of {found.n:,} "
        f"({percent(found.accuracy)}, {low} to {high}), κ {kappa_alone(found.kappa)}{outside}",
    )
    sides = found.sides
    if sides is not None:
        line(
            console,
            f"  where both name a winner: {percent(sides.tpr)} right where people say B (TPR), "
            f"{percent(sides.tnr)} where they say A (TNR)",
        )


def kappa_alone(found: Agreement) -> str:
    """Return κ with its interval, or why there is none."""
    if found.estimate is None:
        return f"– ({found.reason})"
    span = found.interval
    return f"{found.estimate:.2f}" + (
        "" if span is None else f" [{span.lower:.2f}, {span.upper:.2f}]"
    )


def _left_out(finding: PairwiseFinding, console: Console) -> None:
    missing = len(finding.pairs) - finding.judged
    if not finding.pairs:
        line(console, "  there is no pair to judge")
    if not missing:
        return
    line(console, f"  ! {counted(missing, 'pair')} undecided, in no count above:", "yellow")
    for reason, count in list(finding.undecided.items())[:SHOWN]:
        line(console, f"    {count:,} × {reason}")


def _agreement(panel: JudgePanel, console: Console) -> None:
    section(console, "How far the judges agree")
    for names, found in panel.pairs.items():
        line(console, f"  {' and '.join(names)}: κ {_kappa(found)}")
    line(console, f"  all of them: Fleiss' κ {_kappa(panel.fleiss)}")
    line(console, f"  all of them: Krippendorff's alpha {_kappa(panel.alpha)}")


def _kappa(found: Agreement) -> str:
    if found.estimate is None:
        return f"– ({found.reason})"
    share = "" if found.agreement is None else f"same answer {percent(found.agreement)}, "
    return f"{found.estimate:.2f} ({share}n = {found.n:,})"


def _labelled(found: LabelledDelta, labels: tuple[str, str], console: Console) -> None:
    of = "the verdict" if found.criterion is None else f"grader {found.criterion}"
    section(console, f"Corrected by people's labels: {of}")
    alone, correction = found.alone.difference, found.correction
    line(console, f"  graders alone    {_points(alone.estimate)}{_span(alone.interval)}")
    for name, difference in (
        ("PPI++", correction.ppi),
        ("post-stratified", correction.post_stratified),
    ):
        mark = "  ← the one to report" if difference is found.headline else ""
        line(console, f"  {name:<15}  {_difference(difference)}{mark}")
    if found.shift is not None:
        line(console, f"  the labels add {_points(found.shift)}: {found.changed}")
        line(console, f"  {correction.reason}", "dim")
    else:
        line(console, f"  ! {found.changed}", "yellow")
    for label, count, agreement in zip(labels, found.labels, found.agreement, strict=True):
        line(console, f"  {label}: {_count(count)}; {_people(agreement)}")


def _difference(found: CorrectedDifference) -> str:
    if found.estimate is None:
        return f"– ({found.reason})"
    return f"{_points(found.estimate)}{_span(found.interval)}"


def _count(count: LabelCount) -> str:
    text = counted(count.usable, "usable label")
    text += f", {count.skipped:,} skipped" * bool(count.skipped)
    return text + f", {count.unused:,} on cases that do not count" * bool(count.unused)


def _people(found: Calibration) -> str:
    counts = found.confusion
    if counts is None:
        return "none to hold the graders against"
    kappa = found.kappa.estimate
    beyond = "" if kappa is None else f", κ {kappa:.2f}"
    return f"graders and people agree on {counts.tp + counts.tn:,} of {counts.n:,}{beyond}"


def _ignored(what: str, noun: str, cases: tuple[str, ...], console: Console) -> None:
    if not cases:
        return
    more_of_them = "" if len(cases) <= SHOWN else " …"
    named = ", ".join(excerpt(case, 80) for case in cases[:SHOWN]) + more_of_them
    many = noun.replace("case", "cases", 1)
    line(console, f"! {what} for {counted(len(cases), noun, many)} ignored: {named}", "yellow")


def _points(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:+.1f} points"


def _span(interval: Interval | None) -> str:
    if interval is None:
        return ""
    return f" [{100 * interval.lower:+.1f}, {100 * interval.upper:+.1f}]"
