"""A comparison as a picture: overall, each grader, each tag, and how much rows changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from fairtrial.interchange.pictures.axis import around_zero
from fairtrial.interchange.pictures.forest import MOST_ROWS, Line, Panel, add_panel, forest
from fairtrial.interchange.pictures.histogram import Bar, add_histogram
from fairtrial.interchange.pictures.svg import Drawing
from fairtrial.model.comparison import Bin, Comparison
from fairtrial.model.delta import Delta, Direction, Slice
from fairtrial.model.noise import Luck

COLOURS = {
    Direction.BETTER: "better",
    Direction.WORSE: "worse",
    Direction.INCONCLUSIVE: "unclear",
}
_FEWEST_BARS = 3
TWO_SIDED_95 = 1.959964


def comparison_picture(found: Comparison, luck: Luck | None = None) -> Drawing:
    """Draw a comparison.

    Args:
        found: The comparison.
        luck: How far two unchanged runs of this size differ; None when nobody measured it.
    """
    title = f"{found.b.label} against {found.a.label}"
    drawing = forest(title, found.sentence, panels(found, luck))
    y = drawing.height
    if len(found.histogram) >= _FEWEST_BARS:
        add_histogram(
            drawing,
            "How many cases changed by how much",
            [_bar(part) for part in found.histogram],
            y + 6,
            "change of a case's pass rate, in percentage points",
        )
    return drawing


def comparison_forest(found: Comparison, luck: Luck | None = None) -> Drawing:
    """Draw only the intervals, for a page that says the rest; see `comparison_picture`."""
    drawing = Drawing(860, f"{found.b.label} against {found.a.label}")
    y = 0.0
    for panel in panels(found, luck):
        y = add_panel(drawing, panel, y)
    return drawing


def panels(found: Comparison, luck: Luck | None = None) -> list[Panel]:
    """Return the intervals of a comparison, those of pass rates on one scale."""
    overall = Slice("", "all cases", found.delta)
    slices = sorted(found.slices, key=lambda part: -part.delta.n)
    shown = slices[:MOST_ROWS]
    band = TWO_SIDED_95 * luck.sd if luck is not None and luck.sd else None
    reach = max(_reach([overall]), _reach(shown), band or 0.0)
    level = f"{100 * found.delta.level:g} % interval"
    first = _panel(f"Pass rate, B − A in percentage points, {level}", [overall], reach)
    if luck is not None and band is not None:
        title = f"{first.title}; shaded: {'at least ' * luck.at_most}95 % of unchanged runs"
        first = replace(first, title=title, band=band)
    made = [first]
    if found.graders:
        made.append(
            _panel(
                f"Mean of each grader, B − A, {level}s that hold together",
                found.graders,
                _reach(found.graders),
                _score,
            )
        )
    if shown:
        left_out = len(slices) - len(shown) + found.slices_left_out
        title = "Pass rate by tag, split and condition, in percentage points"
        made.append(_panel(title, shown, reach, left_out=left_out))
    return made


def points(value: float) -> str:
    """Return a difference of shares in percentage points, e.g. `+12.5`."""
    return _zeroless(f"{100 * value:+.1f}".replace("-", "−"))


def _score(value: float) -> str:
    return _zeroless(f"{value:+.3f}".replace("-", "−"))


def _zeroless(text: str) -> str:
    """Return a number without a sign when it is nothing but zeros."""
    return text if text.strip("+−0.") else text[1:]


def _panel(
    title: str,
    parts: Sequence[Slice],
    reach: float,
    words: Callable[[float], str] = points,
    left_out: int = 0,
) -> Panel:
    axis = around_zero(reach, lambda value: _tick(words(value)))
    return Panel(title, [_line(part, words) for part in parts], axis, 0.0, left_out)


def _tick(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def _line(part: Slice, words: Callable[[float], str]) -> Line:
    delta = part.delta
    name = part.name if part.kind in ("", "grader") else f"{part.kind} {part.name}"
    if delta.estimate is None:
        return Line(name, None, None, None, f"unknown: {delta.reason}")
    if delta.lower is None or delta.upper is None:
        note = f"{words(delta.estimate)}, no interval: {delta.reason}"
    else:
        note = f"{words(delta.estimate)}  ({words(delta.lower)} to {words(delta.upper)})"
    if delta.verdict is not Direction.INCONCLUSIVE:
        note += f"  {delta.verdict.value}"
    return Line(name, delta.estimate, delta.lower, delta.upper, note, COLOURS[delta.verdict])


def _reach(parts: Sequence[Slice]) -> float:
    return max((_far(part.delta) for part in parts), default=0.0)


def _far(delta: Delta) -> float:
    ends = (delta.estimate, delta.lower, delta.upper)
    return max((abs(end) for end in ends if end is not None), default=0.0)


def _bar(part: Bin) -> Bar:
    label = _tick(points(part.lower))
    if part.upper != part.lower:
        label += f" to {_tick(points(part.upper))}"
    if part.lower >= 0 and part.upper > 0:
        return Bar(label, part.rows, "better")
    return Bar(label, part.rows, "worse" if part.upper <= 0 and part.lower < 0 else "unclear")
