"""Curves over a logarithmic or an even scale, each named at its end."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fairtrial.interchange.pictures.axis import Axis, from_zero
from fairtrial.interchange.pictures.forest import headed
from fairtrial.interchange.pictures.lettering import fitted, width_of
from fairtrial.interchange.pictures.svg import SERIES, Drawing

WIDTH = 860
_HEIGHT = 320.0
_MARGIN = 20.0
_SIZE = 11.5
_APART = 16.0


@dataclass(frozen=True, slots=True)
class Curve:
    """One curve.

    Attributes:
        name: What stands at its end.
        points: Its points, (x, y) with x above 0, by x; empty draws nothing.
    """

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Chart:
    """Curves on the same scales.

    Attributes:
        title: What the picture says.
        subtitle: What it rests on.
        across: What x means.
        up: What y means.
        curves: At most as many as there are colours.
        y_label: How to write a value of y.
        marked: A point to single out, with its words; None singles out none.
        even: The scale of x is even, of whole numbers, not logarithmic.
    """

    title: str
    subtitle: str
    across: str
    up: str
    curves: Sequence[Curve]
    y_label: Callable[[float], str]
    marked: tuple[float, float, str] | None = None
    even: bool = False


def curves(chart: Chart) -> Drawing:
    """Draw curves."""
    drawing = Drawing(WIDTH, chart.title)
    y = headed(drawing, chart.title, chart.subtitle) + 18
    drawing.text((_MARGIN, y), chart.up, "soft", size=_SIZE)
    points = [point for curve in chart.curves for point in curve.points]
    points += [chart.marked[:2]] if chart.marked else []
    if not points:
        drawing.text((_MARGIN, y + 40), "There is nothing to draw.", size=13)
        return drawing
    across = (_even if chart.even else _logarithmic)([x for x, _ in points])
    up = from_zero(max(y for _, y in points), chart.y_label)
    left = _MARGIN + 12 + max(width_of(label, _SIZE) for _, label in up.ticks)
    room = max((width_of(curve.name, 12) for curve in chart.curves), default=0.0)
    right = WIDTH - _MARGIN - min(room, 160.0) - 16
    frame = _Frame(across, up, (left, right), (y + 14, y + 14 + _HEIGHT), chart.even)
    _grid(drawing, frame)
    _draw(drawing, chart, frame)
    _mark(drawing, chart, frame)
    middle = (left + right) / 2
    place = (middle, y + 14 + _HEIGHT + 38)
    drawing.text(place, chart.across, "soft", size=_SIZE, anchor="middle")
    return drawing


@dataclass(frozen=True, slots=True)
class _Frame:
    across: Axis
    up: Axis
    sides: tuple[float, float]
    heights: tuple[float, float]
    even: bool

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point is drawn."""
        (left, right), (top, bottom) = self.sides, self.heights
        return (
            left + (right - left) * self.across.share(x if self.even else math.log10(x)),
            bottom - (bottom - top) * self.up.share(y),
        )


def _logarithmic(values: Sequence[float]) -> Axis:
    low, high = math.log10(min(values)), math.log10(max(values))
    if high - low < 0.1:
        low, high = low - 0.05, high + 0.05
    first, last = math.floor(low), math.ceil(high)
    round_ones = [m * 10.0**e for e in range(first, last + 1) for m in (1, 2, 5)]
    inside = [v for v in round_ones if low - 1e-9 <= math.log10(v) <= high + 1e-9]
    return Axis(low, high, [(math.log10(v), f"{v:,.0f}") for v in inside])


def _even(values: Sequence[float]) -> Axis:
    low, high = min(values), max(*values, min(values) + 1.0)
    step = max(1, math.ceil((high - low) / 12))
    ticks = range(math.ceil(low), math.floor(high) + 1, step)
    return Axis(low, high, [(float(tick), f"{tick:,}") for tick in ticks])


def _grid(drawing: Drawing, frame: _Frame) -> None:
    (left, right), (top, bottom) = frame.sides, frame.heights
    for value, label in frame.up.ticks:
        y = bottom - (bottom - top) * frame.up.share(value)
        drawing.line((left, y), (right, y), "line")
        drawing.text((left - 8, y + 4), label, "soft", size=_SIZE, anchor="end")
    last = float("-inf")
    for value, label in frame.across.ticks:
        x = left + (right - left) * frame.across.share(value)
        drawing.line((x, bottom), (x, bottom + 5), "soft")
        half = width_of(label, _SIZE) / 2
        if x - half > last + 4:
            drawing.text((x, bottom + 19), label, "soft", size=_SIZE, anchor="middle")
            last = x + half


def _draw(drawing: Drawing, chart: Chart, frame: _Frame) -> None:
    ends = []
    for curve, colour in zip(chart.curves, SERIES, strict=False):
        places = [frame.place(x, y) for x, y in curve.points]
        if not places:
            continue
        if len(places) > 1:
            drawing.path(places, colour)
        for place in places:
            drawing.dot(place, 3, colour)
        ends.append((places[-1], curve.name, colour))
    for (_, name, colour), y in zip(
        sorted(ends, key=lambda end: end[0][1]), _spread([end[0][1] for end in ends]), strict=True
    ):
        text = fitted(name, 12, 160)
        drawing.text((frame.sides[1] + 12, y + 4), text, colour, size=12, bold=True)


def _spread(heights: Sequence[float]) -> list[float]:
    """Return heights, lowest first, moved so far that labels there do not touch."""
    placed: list[float] = []
    for height in sorted(heights):
        placed.append(max(height, placed[-1] + _APART) if placed else height)
    # Half of the push goes up again, so that a crowd stays around its middle.
    push = placed[-1] - max(heights) if placed else 0.0
    return [height - push / 2 for height in placed]


def _mark(drawing: Drawing, chart: Chart, frame: _Frame) -> None:
    if chart.marked is None:
        return
    x, y, words = chart.marked
    place = frame.place(x, y)
    text = fitted(words, 12.5, 320)
    # The words stand above every curve, with a line down to the point: on a curve nobody reads.
    level = min(frame.place(*point)[1] for point in _beside(chart, x)) - 34
    drawing.line((place[0], level + 6), place, "soft")
    drawing.ring(place, 5.5, "ink")
    half = width_of(text, 12.5) / 2
    middle = min(max(place[0], frame.sides[0] + half), frame.sides[1] - half)
    drawing.text((middle, level), text, size=12.5, bold=True, anchor="middle")


def _beside(chart: Chart, x: float) -> list[tuple[float, float]]:
    """Return the points of all curves around a place, as far as a label there may reach."""
    near = [p for curve in chart.curves for p in curve.points if 0.4 * x <= p[0] <= 2.5 * x]
    return near or [(x, chart.marked[1])] if chart.marked else near
