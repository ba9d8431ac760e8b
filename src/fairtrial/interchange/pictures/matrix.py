"""A table of counts as a picture: two verdicts against two others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fairtrial.interchange.pictures.lettering import fitted
from fairtrial.interchange.pictures.svg import Drawing

_WIDTH = 640
_MARGIN = 20.0
_LEFT = 170.0
_CELL = (180.0, 84.0)
_GAP = 6.0


@dataclass(frozen=True, slots=True)
class Cell:
    """One count.

    Attributes:
        count: How many.
        note: What stands under the count.
        agrees: Whether both sides say the same.
    """

    count: int
    note: str
    agrees: bool


@dataclass(frozen=True, slots=True)
class Matrix:
    """A table of counts.

    Attributes:
        title: What it shows.
        lines: What stands under the title.
        columns: What the columns mean.
        rows: What each row means, with its cells.
    """

    title: str
    lines: Sequence[str]
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Cell]]]


def matrix(table: Matrix) -> Drawing:
    """Draw a table of counts: the larger a count, the longer the bar in its cell."""
    drawing = Drawing(_WIDTH, table.title)
    room = _WIDTH - 2 * _MARGIN
    y = 30.0
    drawing.text((_MARGIN, y), fitted(table.title, 15, room), size=15, bold=True)
    for text in table.lines:
        y += 19
        drawing.text((_MARGIN, y), fitted(text, 12, room), "soft")
    y += 32
    for number, column in enumerate(table.columns):
        drawing.text((_x(number) + _CELL[0] / 2, y), column, anchor="middle", bold=True)
    y += 12
    most = max((cell.count for _, cells in table.rows for cell in cells), default=0) or 1
    for name, cells in table.rows:
        drawing.text((_LEFT - 14, y + _CELL[1] / 2 + 4), name, anchor="end", bold=True)
        for number, cell in enumerate(cells):
            _cell(drawing, (_x(number), y), cell, cell.count / most)
        y += _CELL[1] + _GAP
    return drawing


def _x(column: int) -> float:
    return _LEFT + column * (_CELL[0] + _GAP)


def _cell(drawing: Drawing, at: tuple[float, float], cell: Cell, share: float) -> None:
    x, y = at
    width, height = _CELL
    colour = "better" if cell.agrees else "worse"
    drawing.box((x, y), (width, height), "line", round_by=4)
    if cell.count:
        drawing.box((x, y + height - 8), (max(width * share, 2.0), 8), colour, round_by=2)
    drawing.text((x + 14, y + 36), f"{cell.count:,}", colour, size=24, bold=True)
    drawing.text((x + 14, y + 58), fitted(cell.note, 12, width - 28), "soft")
