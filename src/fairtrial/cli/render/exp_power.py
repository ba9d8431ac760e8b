"""`exp power` as text: the answer, what it assumes, and the table around it."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console

from fairtrial.analysis.planned_size import MOST_CASES
from fairtrial.app.reports.power import PowerReport
from fairtrial.cli.render.lines import line, section, table
from fairtrial.cli.render.words import counted, points

WIDEST_BAR = 40


def render(report: PowerReport, console: Console) -> None:
    """Print the answer in words, its assumptions, and the smallest effect of other sizes."""
    for text in answer(report):
        line(console, text, "bold")
    section(console, "Assumed")
    for text in _assumptions(report):
        line(console, f"  {text}")
    section(console, "Smallest difference seen, by cases and trials")
    _table(report, console)


def answer(report: PowerReport) -> Iterator[str]:
    """Yield the answer, a sentence a line."""
    trials = f"{counted(report.trials, 'trial')} a case and arm"
    if report.effect is not None:
        size = points(report.effect)
        if report.cases_needed is None:
            yield f"To see {size} with {trials}, more than {MOST_CASES:,} cases are needed."
        else:
            runs = 2 * report.cases_needed * report.trials
            yield (
                f"To see {size} with {trials}: {report.cases_needed:,} cases "
                f"({runs:,} trials in all)."
            )
        yield from _if_concentrated(report)
    if report.cases is not None:
        yield from _with_cases(report, trials)
    if report.effect is None and report.cases is None:
        yield "How large must a difference be to be seen? Ask with --effect or --cases."


def _if_concentrated(report: PowerReport) -> Iterator[str]:
    most, least = report.cases_needed_if_concentrated, report.cases_needed
    if most is not None and least is not None and most > least:
        yield (
            f"If the gain sits in a few cases, fixed for good, rather than a little in every one, "
            f"it takes {most:,}."
        )


def _with_cases(report: PowerReport, trials: str) -> Iterator[str]:
    cases = f"{counted(report.cases or 0, 'case')} with {trials}"
    often = f"{100 * report.asked.power:g}% of the time"
    least, most = report.smallest_effect, report.smallest_effect_if_concentrated
    if least is None:
        yield f"{cases} cannot be counted on to see anything, not even all cases fixed."
    else:
        yield f"{cases} see {points(least)} or more {often}."
    if least is not None and most is not None and most > least:
        yield f"If the gain sits in a few cases, fixed for good, it takes {points(most)}."
    if report.power_reached is not None and report.effect is not None:
        yield (
            f"A real difference of {points(report.effect)} would be seen "
            f"{100 * report.power_reached:.0f}% of the time."
        )


def _assumptions(report: PowerReport) -> Iterator[str]:
    noise = report.noise
    yield (
        "run a case twice without any change, and its verdict flips "
        f"{'at most ' * noise.at_most}{100 * noise.flip_rate:.3g}% of the time ({noise.text})"
    )
    yield "both arms run the same cases and scatter alike; cases do not depend on each other"
    yield (
        f"a difference counts as seen at p ≤ {report.asked.alpha:g} (two-sided), and a real one "
        f"shall be seen {100 * report.asked.power:g}% of the time"
    )
    if noise.at_most:
        yield "as it may be less, a gain is taken to sit in a few cases that are fixed for good"
    elif noise.flip_rate:
        yield "in the table, every case gains a little; a gain in a few cases needs more of them"
    else:
        yield "without any noise a gain can only sit in cases that are fixed for good"


def _table(report: PowerReport, console: Console) -> None:
    cases = sorted({n for n, _ in report.table})
    trials = sorted({k for _, k in report.table})
    drawn = [report.table[n, report.trials] for n in cases]
    widest = max((effect for effect in drawn if effect is not None), default=1.0)
    rows = []
    for n, effect in zip(cases, drawn, strict=True):
        chosen = n == report.chosen
        cells = [_cell(report, n, k) for k in trials]
        length = 0 if effect is None else max(1, round(WIDEST_BAR * effect / widest))
        rows.append(("→" if chosen else " ", f"{n:,}", *cells, "█" * length))
    heads = [f">{counted(k, 'trial')}" for k in trials]
    table(console, ("", ">Cases", *heads, f"with {counted(report.trials, 'trial')}"), rows)


def _cell(report: PowerReport, cases: int, trials: int) -> str:
    effect = report.table[cases, trials]
    text = "–" if effect is None else f"{100 * effect:.1f} pp"
    return f"[{text}]" if (cases, trials) == (report.chosen, report.trials) else text
