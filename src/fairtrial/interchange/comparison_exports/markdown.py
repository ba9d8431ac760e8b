"""Markdown: a pull-request comment that says whether B is better, and folds the rest away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TextIO

from fairtrial.interchange.comparison_exports.export import (
    VERDICTS,
    WORDS,
    ComparisonExport,
    change_of,
    commands,
    counts_of,
)
from fairtrial.interchange.experiment_exports.export import percent
from fairtrial.interchange.experiment_exports.markdown import MAX_CHARACTERS, code, plain
from fairtrial.interchange.pictures.of_comparison import points
from fairtrial.model.comparison import Change, Comparison, RowChange
from fairtrial.model.delta import Delta, Direction, Quantity, Slice

_LISTED = (
    (Change.BROKEN, 200),
    (Change.FIXED, 200),
    (Change.REGRESSED, 50),
    (Change.IMPROVED, 50),
    (Change.NOT_COMPARABLE, 20),
    (Change.UNDECIDED, 20),
)
"""Classes whose rows are listed, and how many of each."""
_GRADERS_SHOWN = 40
_SLICES_SHOWN = 40
_SENTENCES_SHOWN = 10
_FOOT_CHARACTERS = 1_500
"""Kept free for what must stand at the end: what to do next, and what was compared."""


def write(export: ComparisonExport, stream: TextIO) -> None:
    """Write the comment, at most `MAX_CHARACTERS` long; the first line marks it for its bot."""
    found = export.comparison
    head = "\n".join([*_head(export), ""])
    foot = "\n".join([*_foot(found), ""])
    budget = MAX_CHARACTERS - len(head) - max(len(foot), _FOOT_CHARACTERS)
    stream.write(head)
    for change, most in _LISTED:
        text = _rows(found, change, most, budget)
        budget -= len(text)
        stream.write(text)
    left_out = []
    for title, text in _tables(found):
        if len(text) > budget:
            left_out.append(title)
            continue
        budget -= len(text)
        stream.write(text)
    if left_out:
        stream.write(f"\nLeft out, as the comment would be too long: {', '.join(left_out)}.\n")
    stream.write(foot)


def _head(export: ComparisonExport) -> Iterator[str]:
    found, decision = export.comparison, export.decision
    yield f"<!-- fairtrial:{export.marker} -->"
    verdict = "" if decision is None else f"{VERDICTS[decision.outcome]}: "
    yield f"### {verdict}{code(found.b.label, 60)} against {code(found.a.label, 60)}"
    yield ""
    yield f"**{plain(found.sentence)}**"
    yield ""
    level = f"{100 * found.delta.level:g} % interval"
    yield f"| | {code(found.a.label, 40)} | {code(found.b.label, 40)} | B − A | {level} | |"
    yield "|---|---:|---:|---:|---:|---|"
    yield _delta_line("pass rate", found.delta, rates=True)
    yield ""
    coverage = f"{found.coverage.paired:,} of {found.coverage.total:,} cases compared"
    yield f"{coverage}: {counts_of(found)}."
    problems = [(problem.what, problem.rows, problem.fix) for problem in found.problems]
    if problems:
        yield ""
    for what, rows, fix in problems[:_SENTENCES_SHOWN]:
        size = f" ({rows:,} cases)" if rows else ""
        yield f"- ⚠ {plain(what)}{size}." + (f" {plain(fix)}." if fix else "")
    if decision is not None:
        yield ""
        yield f"**Decision: {VERDICTS[decision.outcome].lower()}**"
        yield ""
        yield from (f"- {plain(reason)}" for reason in decision.reasons[:_SENTENCES_SHOWN])
        yield from (f"- → {plain(advice)}" for advice in decision.advice[:_SENTENCES_SHOWN])
    if export.notes:
        yield ""
        yield from (f"- {plain(note)}" for note in export.notes[:_SENTENCES_SHOWN])


def _rows(found: Comparison, change: Change, most: int, budget: int) -> str:
    rows = found.rows[change]
    if not rows:
        return ""
    experiment = found.b.id
    start = (
        f"\n<details><summary>{WORDS[change].capitalize()}: {len(rows):,}</summary>\n\n"
        f"Read one: {code(f'fairtrial exp show {experiment} --case ID')}\n\n"
        "| case | passed | why it failed |\n|---|---|---|\n"
    )
    rest = f"\n{len(rows):,} more are left out.\n"
    end = "\n</details>\n"
    room = budget - len(start) - len(rest) - len(end)
    lines: list[str] = []
    for row in rows[:most]:
        text = _row(row)
        if len(text) > room:
            break
        room -= len(text)
        lines.append(text)
    if not lines:
        return (
            "" if budget < len(rest) + 40 else f"\n{WORDS[change].capitalize()}: {len(rows):,}.\n"
        )
    left = len(rows) - len(lines)
    return start + "".join(lines) + (f"\n{left:,} more are left out.\n" if left else "") + end


def _row(row: RowChange) -> str:
    luck = " (could be luck)" if row.within_noise else ""
    why = code(row.reason, 160) if row.reason else ""
    return f"| {code(str(row.key), 100)} | {change_of(row)}{luck} | {why} |\n"


def _tables(found: Comparison) -> Iterator[tuple[str, str]]:
    names = f"{code(found.a.label, 40)} | {code(found.b.label, 40)}"
    head = f"| | {names} | B − A | interval | |\n|---|---:|---:|---:|---:|---|\n"
    if found.graders:
        lines = [_slice_line(part, rates=False) for part in found.graders[:_GRADERS_SHOWN]]
        left = len(found.graders) - len(lines)
        yield "the graders", _folded("Mean of each grader", head, lines, left)
    if found.slices:
        largest = sorted(found.slices, key=lambda part: -part.delta.n)[:_SLICES_SHOWN]
        lines = [_slice_line(part, rates=True) for part in largest]
        left = len(found.slices) - len(lines) + found.slices_left_out
        title = "Pass rate by tag, split and condition"
        yield "tags, splits and conditions", _folded(title, head, lines, left)
    known = [quantity for quantity in found.quantities if quantity.n]
    if known:
        lines = [_quantity_line(quantity) for quantity in known]
        head = f"| | {names} | B − A | interval |\n|---|---:|---:|---:|---:|\n"
        yield "cost and time", _folded("What a trial takes (less is better)", head, lines, 0)


def _folded(title: str, head: str, lines: Sequence[str], left: int) -> str:
    more = f"\n{left:,} more are left out.\n" if left > 0 else ""
    body = "\n".join(lines)
    return f"\n<details><summary>{title}</summary>\n\n{head}{body}\n{more}\n</details>\n"


def _slice_line(part: Slice, *, rates: bool) -> str:
    name = code(part.name, 60)
    return _delta_line(name if part.kind == "grader" else f"{part.kind} {name}", part.delta, rates)


def _delta_line(name: str, delta: Delta, rates: bool) -> str:  # noqa: FBT001  # which unit
    def value(number: float | None) -> str:
        if number is None:
            return "–"
        return percent(number) if rates else f"{number:.3f}"

    def change(number: float | None) -> str:
        if number is None:
            return "–"
        return points(number) if rates else f"{number:+.3f}".replace("-", "−")

    ends = "–"
    if delta.lower is not None and delta.upper is not None:
        ends = f"{change(delta.lower)} to {change(delta.upper)}"
    word = "" if delta.verdict is Direction.INCONCLUSIVE else f"**{delta.verdict.value}**"
    cells = (name, value(delta.a), value(delta.b), change(delta.estimate), ends, word)
    return f"| {' | '.join(cells)} |"


def _quantity_line(quantity: Quantity) -> str:
    def value(number: float | None, sign: str = "") -> str:
        return "–" if number is None else f"{number:{sign},.4g}".replace("-", "−")

    ends = "–"
    if quantity.lower is not None and quantity.upper is not None:
        ends = f"{value(quantity.lower, '+')} to {value(quantity.upper, '+')}"
    cells = (value(quantity.a), value(quantity.b), value(quantity.difference, "+"), ends)
    return f"| {quantity.name} ({quantity.unit}) | {' | '.join(cells)} |"


def _foot(found: Comparison) -> Iterator[str]:
    yield ""
    yield "What to do next:"
    yield ""
    yield from (f"- {code(command, 300)} to {does}" for command, does in commands(found))
    yield ""
    sides = (("A", found.a), ("B", found.b))
    yield " · ".join(
        f"{letter} {code(side.id, 60)} on {code(side.dataset, 60)}" for letter, side in sides
    )
