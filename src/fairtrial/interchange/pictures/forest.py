"""Forest: one interval a line, each beside its name and its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fairtrial.interchange.pictures.axis import Axis
from fairtrial.interchange.pictures.lettering import fitted, width_of
from fairtrial.interchange.pictures.svg import Drawing

WIDTH = 860
MOST_ROWS = 40
"""Rows of a panel that are drawn; a caption counts the rest."""
_MARGIN = 20.0
_NAME_ROOM = 200.0
_NOTE_ROOM = 244.0
_GAP = 16.0
_ROW = 26.0
_SIZE = 12.5


@dataclass(frozen=True, slots=True)
class Line:
    """One interval.

    Attributes:
        name: What it is of.
        estimate: The estimate; None when there is none.
        lower: Its lower end; None when there is no interval.
        upper: Its upper end.
        note: The numbers in words, beside it.
        colour: `better`, `worse`, `first` for what is no change, or `unclear`, which has an open
            circle.
    """

    name: str
    estimate: float | None
    lower: float | None
    upper: float | None
    note: str
    colour: str = "unclear"


@dataclass(frozen=True, slots=True)
class Panel:
    """Intervals on one scale.

    Attributes:
        title: What they have in common.
        lines: The intervals.
        axis: Their scale.
        mark: The value where nothing changed; None where there is none.
        left_out: How many more there are.
        band: How far from `mark` differences of no change reach; drawn behind the lines. None
            draws none.
    """

    title: str
    lines: Sequence[Line]
    axis: Axis
    mark: float | None = 0.0
    left_out: int = 0
    band: float | None = None


def forest(title: str, subtitle: str, panels: Sequence[Panel]) -> Drawing:
    """Draw panels of intervals below each other."""
    drawing = Drawing(WIDTH, title)
    y = headed(drawing, title, subtitle)
    for panel in panels:
        y = add_panel(drawing, panel, y)
    return drawing


def headed(drawing: Drawing, title: str, subtitle: str) -> float:
    """Write a picture's title and subtitle; return where the rest starts."""
    room = drawing.width - 2 * _MARGIN
    drawing.text((_MARGIN, 34), fitted(title, 17, room), size=17, bold=True)
    y = 34.0
    for part in wrapped(subtitle, _SIZE, room):
        y += 20
        drawing.text((_MARGIN, y), part, "soft", size=_SIZE)
    return y + 14


def wrapped(text: str, size: float, room: float, most: int = 3) -> list[str]:
    """Return text as lines that fit a width; what exceeds the last of them is cut."""
    lines: list[str] = []
    words = text.split()
    while words and len(lines) < most - 1:
        count = 1
        while count < len(words) and width_of(" ".join(words[: count + 1]), size) <= room:
            count += 1
        lines.append(fitted(" ".join(words[:count]), size, room))
        words = words[count:]
    return [*lines, fitted(" ".join(words), size, room)] if words else lines


def add_panel(drawing: Drawing, panel: Panel, y: float) -> float:
    """Draw a panel from a height on; return where the next may start."""
    shown = panel.lines[:MOST_ROWS]
    left = _MARGIN + _NAME_ROOM + _GAP
    right = drawing.width - _MARGIN - _NOTE_ROOM - _GAP
    y += 22
    title = fitted(panel.title, 13, drawing.width - 2 * _MARGIN)
    drawing.text((_MARGIN, y), title, size=13, bold=True)
    top = y + 10
    bottom = top + _ROW * len(shown)
    _ruled(drawing, panel, (left, right), (top, bottom))
    for number, line in enumerate(shown):
        _draw_line(drawing, line, panel.axis, (left, right), top + _ROW * (number + 0.5))
    y = bottom + 18
    left_out = panel.left_out + len(panel.lines) - len(shown)
    if left_out:
        y += 18
        drawing.text((_MARGIN, y), f"… and {left_out:,} more", "soft")
    return y + 6


def _ruled(
    drawing: Drawing, panel: Panel, across: tuple[float, float], down: tuple[float, float]
) -> None:
    """Draw a panel's scale: a faint line and a label at each tick, a strong one at no change."""
    left, right = across
    top, bottom = down
    if panel.band is not None and panel.mark is not None:
        start, end = (
            left + (right - left) * panel.axis.share(panel.mark + sign * panel.band)
            for sign in (-1, 1)
        )
        drawing.box((start, top), (end - start, bottom - top), "line")
    last = float("-inf")
    for value, label in panel.axis.ticks:
        x = left + (right - left) * panel.axis.share(value)
        marked = panel.mark is not None and abs(value - panel.mark) < 1e-12
        drawing.line((x, top), (x, bottom), "soft" if marked else "line")
        half = width_of(label, 11) / 2
        if x - half > last + 4:
            drawing.text((x, bottom + 14), label, "soft", size=11, anchor="middle")
            last = x + half


def _draw_line(
    drawing: Drawing, line: Line, axis: Axis, across: tuple[float, float], y: float
) -> None:
    left, right = across
    baseline = y + 4
    drawing.text((_MARGIN, baseline), fitted(line.name, _SIZE, _NAME_ROOM), size=_SIZE)
    note = fitted(line.note, _SIZE, _NOTE_ROOM)
    colour = line.colour if line.colour in ("better", "worse") else "soft"
    drawing.text((right + _GAP, baseline), note, colour, size=_SIZE)
    if line.lower is not None and line.upper is not None:
        start, end = (
            left + (right - left) * axis.share(value) for value in (line.lower, line.upper)
        )
        drawing.line((start, y), (end, y), line.colour, 2.5)
        for x, value in ((start, line.lower), (end, line.upper)):
            if axis.low <= value <= axis.high:
                drawing.line((x, y - 4), (x, y + 4), line.colour, 2)
    if line.estimate is not None:
        place = (left + (right - left) * axis.share(line.estimate), y)
        if line.colour == "unclear":
            drawing.ring(place, 4.5, line.colour)
        else:
            drawing.dot(place, 5.5, line.colour)
