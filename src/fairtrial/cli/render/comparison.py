"""A comparison as text: the verdict first and last, between them what it rests on."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console

from fairtrial.app.reports.comparison import ComparisonReport
from fairtrial.cli.render.deltas import deltas, quantities
from fairtrial.cli.render.lines import line, more, section, table
from fairtrial.cli.render.words import counted, percent
from fairtrial.model.command_line import option
from fairtrial.model.comparison import PAIRED, Change, Comparison, FlipNoise, RowChange, Side
from fairtrial.model.decision import Decision, Outcome
from fairtrial.model.delta import Direction
from fairtrial.model.verdict import Cause

SHOWN = 5
"""Rows of a class that are listed; `--json` has them all."""
BAR = 40
_TITLES: Mapping[Change, str] = {
    Change.BROKEN: "Broken: solved in {a}, not in {b}",
    Change.FIXED: "Fixed: solved in {b}, not in {a}",
    Change.REGRESSED: "Regressed without a flip",
    Change.IMPROVED: "Improved without a flip",
    Change.NOT_COMPARABLE: "Not comparable",
    Change.UNDECIDED: "Undecided in {a} or {b}",
    Change.NEW: "Only in {b}",
    Change.DROPPED: "Only in {a}",
}
_WITH_COMMANDS = (Change.BROKEN, Change.FIXED, Change.UNDECIDED)
_STYLES = {Direction.BETTER: "bold green", Direction.WORSE: "bold red"}
_OUTCOMES = {Outcome.SHIP: ("Ship", "bold green"), Outcome.HOLD: ("Hold", "bold red")}


def render_comparison(report: ComparisonReport, console: Console) -> None:
    """Print a comparison."""
    found = report.comparison
    _verdict(report, console)
    _sides(report, console)
    _problems(found, console)
    if found.comparable:
        deltas(found, console)
        _changes(found, console)
        _histogram(found, console)
    for change in _TITLES:
        _rows(found, change, console)
    if report.with_matrix:
        _matrix(found, console)
    quantities(found, console)
    _coverage(found, console)
    _noise_floor(report, console)
    _tried(report, console)
    _opinions(report, console)
    if report.decision is not None:
        _decision(report.decision, console)
    console.print()
    _verdict(report, console)
    _last_word(report, console)


def _noise_floor(report: ComparisonReport, console: Console) -> None:
    luck, delta = report.luck, report.comparison.delta.estimate
    if report.floor is None or luck is None or delta is None:
        return
    source = " and ".join(report.floor.experiments)
    section(console, "Noise floor")
    text = f"  measured by exp aa ({source}): unchanged, two runs of this size differ {luck.words}"
    if luck.sd:
        text += f"; this difference is {'at least ' * luck.at_most}{abs(delta) / luck.sd:.1f} sd"
    line(console, text)


def _tried(report: ComparisonReport, console: Console) -> None:
    """Print the ledger once more were tried than the two that stand here."""
    if report.tried is not None and report.tried.configurations > 2:
        section(console, "Best so far")
        line(console, f"  {report.tried.sentence()}")


def render_in_brief(report: ComparisonReport, console: Console) -> None:
    """Print the overall difference, how many cases changed, and the verdict."""
    found = report.comparison
    _sides(report, console)
    deltas(found, console, parts=False)
    _changes(found, console)
    console.print()
    _verdict(report, console)


def render_outcome(report: ComparisonReport, console: Console) -> None:
    """Print the overall difference, the verdict, and what a gate says to it."""
    deltas(report.comparison, console, parts=False)
    if report.decision is not None:
        _decision(report.decision, console)
    console.print()
    _verdict(report, console)


def _opinions(report: ComparisonReport, console: Console) -> None:
    if report.judged is None and report.people is None:
        return
    # Most comparisons ask neither judges nor people, and do without this module.
    from fairtrial.cli.render.opinions import render_judged, render_people  # noqa: PLC0415

    if report.people is not None:
        labels = (report.comparison.a.label, report.comparison.b.label)
        render_people(report.people, labels, console)
    if report.judged is not None:
        render_judged(report.judged, console)


def _last_word(report: ComparisonReport, console: Console) -> None:
    if report.people is not None:
        from fairtrial.cli.render.opinions import last_word  # noqa: PLC0415  # as above

        words = last_word(report.people)
        if words is not None:
            line(console, words, "bold yellow")


def _verdict(report: ComparisonReport, console: Console) -> None:
    found = report.comparison
    unsaid = found.sentence.startswith("No verdict")
    style = "bold yellow" if unsaid else _STYLES.get(found.delta.verdict, "bold")
    if report.decision is None:
        line(console, found.sentence, style)
        return
    word, style = _outcome(report.decision)
    line(console, _with_outcome(word, found, report.decision), style)


def _with_outcome(word: str, found: Comparison, decision: Decision) -> str:
    sentence = found.sentence
    held = decision.outcome is Outcome.HOLD and found.delta.verdict is Direction.BETTER
    if held and not sentence.startswith("No verdict"):
        return f"{word}. {sentence} It is held all the same: {decision.reasons[0]}"
    if decision.outcome is Outcome.SHIP and found.delta.verdict is Direction.WORSE:
        return f"{word}. {sentence} It may ship all the same: {decision.reasons[0]}"
    if decision.outcome is not Outcome.NO_VERDICT:
        return f"{word}. {sentence}"
    if sentence.startswith(word):
        return sentence
    # "No verdict. B is better than A" would contradict itself.
    named = sentence.startswith((found.a.label, found.b.label))
    rest = sentence if named else sentence[0].lower() + sentence[1:]
    return f"{word}: {decision.reasons[0]}. As far as it goes, {rest}"


def _outcome(decision: Decision) -> tuple[str, str]:
    usual = (decision.outcome.value.replace("_", " ").capitalize(), "bold yellow")
    return _OUTCOMES.get(decision.outcome, usual)


def _sides(report: ComparisonReport, console: Console) -> None:
    found = report.comparison
    console.print()
    width = max(len(found.a.label), len(found.b.label))
    for letter, side in (("A", found.a), ("B", found.b)):
        size = f"{counted(side.rows, 'case')} × {counted(side.trials, 'trial')}"
        line(console, f"{letter}  {side.label:<{width}}  {side.id}  {side.dataset}, {size}", "dim")
    if report.baseline is not None:
        line(console, f"A is the baseline: {report.baseline.sentence}", "dim")


def _problems(found: Comparison, console: Console) -> None:
    for problem in found.problems:
        rows = f" ({counted(problem.rows, 'case')})" if problem.rows else ""
        line(console, f"! {problem.what}{rows}", "yellow")
        if problem.fix:
            line(console, f"  {problem.fix}")


def _changes(found: Comparison, console: Console) -> None:
    counts = found.counts
    section(console, f"Cases: {found.coverage.paired:,} compared")
    line(console, "  " + ", ".join(f"{counts[change]:,} {change.value}" for change in PAIRED))
    noise = _noise(found.noise)
    if noise:
        line(console, f"  {noise}")


def _noise(noise: FlipNoise) -> str:
    flips = noise.within + noise.beyond + noise.unknown
    if flips == 0:
        return ""
    if noise.unknown == flips:
        return "With so few trials a case, no single flip can be told from luck."
    told = (
        f"{noise.within:,} of {counted(flips, 'flip')} could be luck within the case's own trials"
    )
    return f"{told}, {noise.beyond:,} hardly" + (
        f", {noise.unknown:,} unknown" * bool(noise.unknown)
    )


def _histogram(found: Comparison, console: Console) -> None:
    if len(found.histogram) < 3:
        return
    section(console, "How much a case's pass rate changed")
    most = max(bar.rows for bar in found.histogram)
    for bar in found.histogram:
        label = f"{100 * bar.lower:+.0f}"
        if bar.upper != bar.lower:
            label += f" to {100 * bar.upper:+.0f}"
        line(
            console,
            f"  {label:>12}  {'█' * max(bar.rows > 0, round(BAR * bar.rows / most))} {bar.rows:,}",
        )


def _rows(found: Comparison, change: Change, console: Console) -> None:
    rows = found.rows.get(change, ())
    if not rows:
        return
    title = _TITLES[change].format(a=found.a.label, b=found.b.label)
    section(console, f"{title}: {counted(len(rows), 'case')}")
    experiment = found.a.id if change is Change.DROPPED else found.b.id
    for row in rows[:SHOWN]:
        line(console, f"  {_row(row)}", cut=True)
        if change in _WITH_COMMANDS:
            case = option("--case", row.key.case_id)
            line(console, f"    fairtrial exp show {experiment} {case}", "dim")
    more(console, len(rows) - SHOWN)


def _row(row: RowChange) -> str:
    sides = " → ".join(_side(side) for side in (row.a, row.b) if side is not None)
    noise = "  could be luck" if row.within_noise else ""
    reason = f"  {row.reason}" if row.reason else ""
    return f"{row.key}  {sides}{noise}{reason}"


def _side(side: Side) -> str:
    return f"{side.passed}/{side.decided}"


def _matrix(found: Comparison, console: Console) -> None:
    section(console, f"Cases by passes in {found.a.label} (rows) and {found.b.label} (columns)")
    across = sorted({b for _, b in found.matrix})
    down = sorted({a for a, _ in found.matrix})
    rows = [[str(a), *(f"{found.matrix.get((a, b), 0):,}" for b in across)] for a in down]
    table(console, ("", *(f">{b}" for b in across)), rows)


def _coverage(found: Comparison, console: Console) -> None:
    coverage = found.coverage
    section(console, "What this rests on")
    line(
        console,
        f"  {coverage.paired:,} of {counted(coverage.total, 'case')} compared, "
        f"{percent(coverage.share)} of those in {found.a.label}",
    )
    for label, causes in (
        (found.a.label, coverage.undecided_a),
        (found.b.label, coverage.undecided_b),
    ):
        if causes:
            line(console, f"  trials of {label} without a verdict: {_causes(causes)}")
    smallest = found.smallest
    if smallest.effect is not None:
        line(
            console,
            f"  smallest difference that would mostly show: {100 * smallest.effect:.1f} points",
        )
    elif smallest.reason:
        line(console, f"  smallest difference that would show: unknown, {smallest.reason}")


def _causes(causes: Mapping[Cause, int]) -> str:
    return ", ".join(f"{count:,} {cause.value}" for cause, count in causes.items())


def _decision(decision: Decision, console: Console) -> None:
    section(console, f"Decision: {decision.outcome.value.replace('_', ' ')}")
    for reason in decision.reasons:
        line(console, f"  {reason}")
    for advice in decision.advice:
        line(console, f"  → {advice}")
    numbers = [
        f"{name} {_number(value)}" for name, value in decision.evidence.items() if _is_number(value)
    ]
    line(console, "  " + ", ".join(numbers), "dim")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else f"{value}"
