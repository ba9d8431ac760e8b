"""Pass rates of versions in order, with their intervals and the band of what is only noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fairtrial.interchange.pictures.lettering import fitted, width_of
from fairtrial.interchange.pictures.svg import Drawing

WIDTH = 860
_LEFT = 56.0
_RIGHT = 20.0
_TOP = 14.0
_HEIGHT = 260.0
_SIZE = 11.5


@dataclass(frozen=True, slots=True)
class Point:
    """One version.

    Attributes:
        name: Its name.
        rate: Its pass rate, in [0, 1]; None without a verdict.
        interval: The ends of its interval; None without one.
    """

    name: str
    rate: float | None
    interval: tuple[float, float] | None


def rates_over_time(
    title: str, points: Sequence[Point], noise: tuple[float, float] | None
) -> Drawing:
    """Draw pass rates in order.

    Args:
        title: What the picture shows, for those who do not see it.
        points: The versions, the oldest first.
        noise: The pass rates between which an unchanged agent mostly falls; None when unknown.
    """
    drawing = Drawing(WIDTH, title)
    right, bottom = WIDTH - _RIGHT, _TOP + _HEIGHT
    if noise is not None:
        low, high = (_y(min(max(end, 0.0), 1.0)) for end in noise)
        drawing.box((_LEFT, high), (right - _LEFT, max(low - high, 1.0)), "line")
        drawing.text((right - 4, high + 13), "noise", "soft", size=_SIZE, anchor="end")
    for quarter in range(5):
        y = _y(quarter / 4)
        drawing.line((_LEFT, y), (right, y), "line")
        drawing.text((_LEFT - 8, y + 4), f"{25 * quarter} %", "soft", size=_SIZE, anchor="end")
    step = (right - _LEFT) / max(1, len(points))
    places = [_LEFT + step * (number + 0.5) for number in range(len(points))]
    known = [
        (x, _y(point.rate))
        for x, point in zip(places, points, strict=True)
        if point.rate is not None
    ]
    if len(known) > 1:
        drawing.path(known, "unclear", 1.2)
    for x, point in zip(places, points, strict=True):
        if point.interval is not None:
            drawing.line((x, _y(point.interval[0])), (x, _y(point.interval[1])), "first", 2.0)
        if point.rate is not None:
            drawing.dot((x, _y(point.rate)), 4.5, "first")
    last = float("-inf")
    for x, point in zip(places, points, strict=True):
        text = fitted(point.name, _SIZE, max(step - 6, 60.0))
        half = width_of(text, _SIZE) / 2
        if x - half > max(last + 6, 0.0) and x + half < WIDTH:
            drawing.text((x, bottom + 19), text, "soft", size=_SIZE, anchor="middle")
            last = x + half
    drawing.height = max(drawing.height, bottom + 24)
    return drawing


def _y(rate: float) -> float:
    return _TOP + _HEIGHT * (1.0 - rate)
