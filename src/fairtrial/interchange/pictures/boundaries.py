"""A test with several looks: its statistic at each of them, between the boundaries that end it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fairtrial.interchange.pictures.axis import Axis, around_zero, from_zero
from fairtrial.interchange.pictures.lettering import width_of
from fairtrial.interchange.pictures.svg import Drawing

_HEIGHT = 220.0
_MARGIN = 20.0
_SIZE = 11.0
_REACH = 9.0
"""The largest z on the scale: what is beyond stands at its end, so that the rest can be read."""


@dataclass(frozen=True, slots=True)
class LookMark:
    """One look.

    Attributes:
        cases: Cases that it saw, or would have seen.
        bound: The z that ends the test, on either side; None for a look that could not end it.
        z: Its statistic; None for a look that was not taken, or had none.
        ends: Whether it ended the test.
    """

    cases: int
    bound: float | None
    z: float | None = None
    ends: bool = False


def add_boundaries(
    drawing: Drawing, title: str, looks: Sequence[LookMark], y: float, unit: str
) -> float:
    """Draw looks and their boundaries from a height on; return where the next picture may start.

    Args:
        drawing: What to draw on.
        title: What the picture says.
        looks: The looks by cases, those that were not taken last; at least one.
        y: Where to start.
        unit: What the numbers below mean.
    """
    y += 22
    drawing.text((_MARGIN, y), title, size=13, bold=True)
    values = [abs(v) for look in looks for v in (look.bound, look.z) if v is not None]
    up = around_zero(
        min(max(values, default=1.0), _REACH), lambda value: f"{value:+g}" if value else "0", 4
    )
    across = from_zero(float(looks[-1].cases), lambda value: f"{value:,.0f}", 8)
    left = _MARGIN + 12 + max(width_of(label, _SIZE) for _, label in up.ticks)
    frame = _Frame(across, up, (left, drawing.width - _MARGIN), (y + 24, y + 24 + _HEIGHT))
    _grid(drawing, frame)
    for side in (1.0, -1.0):
        bounds = [(look.cases, side * look.bound) for look in looks if look.bound is not None]
        places = [frame.place(cases, z) for cases, z in bounds]
        if len(places) > 1:
            drawing.path(places, "second", 1.5)
        for place in places:
            drawing.ring(place, 3, "second")
    taken = [look for look in looks if look.z is not None]
    path = [frame.place(0, 0.0), *(frame.place(look.cases, look.z or 0.0) for look in taken)]
    if len(path) > 1:
        drawing.path(path, "first")
    for look, place in zip(taken, path[1:], strict=True):
        colour = ("better" if (look.z or 0.0) > 0.0 else "worse") if look.ends else "first"
        drawing.dot(place, 6 if look.ends else 4, colour)
    middle = (frame.sides[0] + frame.sides[1]) / 2
    drawing.text((middle, frame.heights[1] + 36), unit, "soft", size=_SIZE, anchor="middle")
    return frame.heights[1] + 42


@dataclass(frozen=True, slots=True)
class _Frame:
    across: Axis
    up: Axis
    sides: tuple[float, float]
    heights: tuple[float, float]

    def place(self, cases: float, z: float) -> tuple[float, float]:
        """Return where a point is drawn."""
        (left, right), (top, bottom) = self.sides, self.heights
        return (
            left + (right - left) * self.across.share(cases),
            bottom - (bottom - top) * self.up.share(z),
        )


def _grid(drawing: Drawing, frame: _Frame) -> None:
    (left, right), (_, bottom) = frame.sides, frame.heights
    for value, label in frame.up.ticks:
        _, level = frame.place(0, value)
        drawing.line((left, level), (right, level), "soft" if value == 0.0 else "line")
        drawing.text((left - 8, level + 4), label, "soft", size=_SIZE, anchor="end")
    for value, label in frame.across.ticks:
        x, _ = frame.place(value, 0.0)
        drawing.line((x, bottom), (x, bottom + 5), "soft")
        drawing.text((x, bottom + 18), label, "soft", size=_SIZE, anchor="middle")
