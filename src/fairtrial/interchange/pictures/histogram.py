"""Histogram: how many rows have which value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fairtrial.interchange.pictures.axis import from_zero
from fairtrial.interchange.pictures.lettering import width_of
from fairtrial.interchange.pictures.svg import Drawing

_HEIGHT = 140.0
_MARGIN = 20.0
_SIZE = 11.0


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar.

    Attributes:
        label: What stands under it.
        count: How many rows.
        colour: `better`, `worse`, `first` for what is no change, or `unclear`.
    """

    label: str
    count: int
    colour: str = "unclear"


def add_histogram(
    drawing: Drawing, title: str, bars: Sequence[Bar], y: float, unit: str = ""
) -> float:
    """Draw bars from a height on; return where the next picture may start.

    Args:
        drawing: What to draw on.
        title: What the bars are of.
        bars: The bars, from left to right; at least one.
        y: Where to start.
        unit: What the labels under the bars mean.
    """
    y += 22
    drawing.text((_MARGIN, y), title, size=13, bold=True)
    axis = from_zero(1.12 * max(bar.count for bar in bars), lambda value: f"{value:,.0f}", 3)
    left = _MARGIN + 12 + max(width_of(label, _SIZE) for _, label in axis.ticks)
    right = drawing.width - _MARGIN
    top, bottom = y + 24, y + 24 + _HEIGHT
    for value, label in axis.ticks:
        if not value.is_integer():
            continue
        level = bottom - _HEIGHT * axis.share(value)
        drawing.line((left, level), (right, level), "line")
        drawing.text((left - 8, level + 4), label, "soft", size=_SIZE, anchor="end")
    _bars(drawing, bars, (left, right), (bottom, axis.high))
    y = max(top, bottom) + 18
    if unit:
        y += 18
        drawing.text(((left + right) / 2, y), unit, "soft", size=_SIZE, anchor="middle")
    return y + 6


def _bars(
    drawing: Drawing,
    bars: Sequence[Bar],
    across: tuple[float, float],
    scale: tuple[float, float],
) -> None:
    left, right = across
    bottom, most = scale
    step = (right - left) / len(bars)
    width = min(step * 0.72, 72.0)
    last = float("-inf")
    for number, bar in enumerate(bars):
        middle = left + step * (number + 0.5)
        height = _HEIGHT * bar.count / most
        if bar.count:
            size = (width, max(height, 1.0))
            drawing.box((middle - width / 2, bottom - size[1]), size, bar.colour, round_by=2)
            count = f"{bar.count:,}"
            if width_of(count, _SIZE) <= step:
                place = (middle, bottom - size[1] - 5)
                drawing.text(place, count, "soft", size=_SIZE, anchor="middle")
        half = width_of(bar.label, _SIZE) / 2
        if middle - half > last + 4:
            drawing.text((middle, bottom + 16), bar.label, "ink", size=_SIZE, anchor="middle")
            last = middle + half
