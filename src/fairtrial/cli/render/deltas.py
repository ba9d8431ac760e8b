"""Differences as a table with a forest line each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.console import Console

from fairtrial.cli.render.forest import HALF, forest_line
from fairtrial.cli.render.lines import line, more, section, table
from fairtrial.cli.render.words import duration, money, number, percent
from fairtrial.model.comparison import Comparison
from fairtrial.model.delta import Delta, Direction, Quantity, Slice

SHOWN_SLICES = 10
_GAP = 2
_LEAST_HALF = 6
_MARKS = {Direction.BETTER: "better", Direction.WORSE: "worse", Direction.INCONCLUSIVE: ""}
Words = Callable[[float | None], str]
_UNITS: dict[str, Words] = {
    "usd": money,
    "s": duration,
    "tokens": lambda value: "–" if value is None else f"{value:,.0f}",
}


def deltas(found: Comparison, console: Console, *, parts: bool = True) -> None:
    """Print the overall difference, then those of graders, tags, splits and conditions."""
    section(console, f"B − A with its {100 * found.delta.level:.0f} % interval")
    overall = Slice("pass rate", "pass rate", found.delta)
    _table([overall], console, percent)
    line(console, f"  {_method(found.delta)}", "dim")
    if not parts:
        return
    if found.graders:
        section(console, "Mean of each grader (intervals hold together)")
        _table(found.graders, console, number)
    if found.slices:
        section(console, "Pass rate by tag, split and condition (intervals hold together)")
        shown = sorted(found.slices, key=lambda part: -part.delta.n)[:SHOWN_SLICES]
        _table(shown, console, percent, kinds=True)
        more(console, len(found.slices) + found.slices_left_out - len(shown))


def _method(delta: Delta) -> str:
    p = "" if delta.p is None else f", p = {delta.p:.3g} ({delta.p_method})"
    reason = f": {delta.reason}" if delta.reason else ""
    units = f", {delta.clusters:,} clusters" if delta.clusters != delta.n else ""
    return f"{delta.method}, n = {delta.n:,}{units}{p}{reason}"


def _table(parts: Sequence[Slice], console: Console, words: Words, *, kinds: bool = False) -> None:
    columns = ["", ">cases", ">A", ">B", ">B − A", ">from", ">to", ""]
    rows = [[*_cells(part, words, kinds=kinds), _MARKS[part.delta.verdict]] for part in parts]
    room = console.width - sum(
        max(len(row[at].removeprefix(">")) for row in (columns, *rows)) + _GAP
        for at in range(len(columns))
    )
    half = min(HALF, (room - _GAP) // 2)
    if half >= _LEAST_HALF:
        reach = max((_reach(part.delta) for part in parts), default=0.0)
        columns.insert(-1, "")
        for part, row in zip(parts, rows, strict=True):
            row.insert(-1, _forest(part.delta, reach, half))
    table(console, columns, rows)


def _cells(part: Slice, words: Words, *, kinds: bool) -> Sequence[str]:
    delta = part.delta
    name = f"{part.kind} {part.name}" if kinds else part.name
    changes = [_signed(value, words) for value in (delta.estimate, delta.lower, delta.upper)]
    return [f"  {name}", f"{delta.n:,}", words(delta.a), words(delta.b), *changes]


def _reach(delta: Delta) -> float:
    return max(
        (abs(v) for v in (delta.estimate, delta.lower, delta.upper) if v is not None), default=0.0
    )


def _forest(delta: Delta, reach: float, half: int) -> str:
    if delta.estimate is None or delta.lower is None or delta.upper is None:
        return ""
    return forest_line(delta.lower, delta.estimate, delta.upper, reach=reach, half=half)


def _signed(value: float | None, words: Words) -> str:
    if value is None:
        return "–"
    return f"{100 * value:+.1f}" if words is percent else f"{value:+.3f}"


def quantities(found: Comparison, console: Console) -> None:
    """Print what a trial takes in both arms, where it is known."""
    known = [quantity for quantity in found.quantities if quantity.n]
    if not known:
        return
    section(console, "What a trial takes (less is better)")
    table(
        console,
        ("", ">A", ">B", ">B − A", ">from", ">to", ">cases"),
        [_quantity(quantity) for quantity in known],
    )


def _quantity(quantity: Quantity) -> Sequence[str]:
    words = _UNITS[quantity.unit]

    def signed(value: float | None) -> str:
        if value is None:
            return "–"
        return f"{'−' if value < 0 else '+'}{words(abs(value))}"

    return (
        f"  {quantity.name}",
        words(quantity.a),
        words(quantity.b),
        signed(quantity.difference),
        signed(quantity.lower),
        signed(quantity.upper),
        f"{quantity.n:,}",
    )
