"""One interval on a line, around the place of no change."""

from __future__ import annotations

HALF = 24
"""Columns on each side of no change."""


def forest_line(lower: float, estimate: float, upper: float, *, reach: float) -> str:
    """Return an interval as a line of characters; `┃` stands at 0.

    Args:
        lower: Its lower end.
        estimate: The estimate, `●`.
        upper: Its upper end.
        reach: The value at both ends of the line.
    """
    cells = [" "] * (2 * HALF + 1)
    start, middle, end = (_column(value, reach) for value in (lower, estimate, upper))
    for column in range(start, end + 1):
        cells[column] = "─"
    if end > start:
        cells[start], cells[end] = "├", "┤"
    cells[HALF] = "┃"
    cells[middle] = "●"
    return "".join(cells).rstrip()


def _column(value: float, reach: float) -> int:
    share = value / reach if reach > 0 else 0.0
    return HALF + round(HALF * min(max(share, -1.0), 1.0))
