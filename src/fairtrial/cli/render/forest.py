"""One interval on a line, around the place of no change."""

from __future__ import annotations

HALF = 24
"""Columns on each side of no change."""


def forest_line(
    lower: float, estimate: float, upper: float, *, reach: float, half: int = HALF
) -> str:
    """Return an interval as a line of characters; `┃` stands at 0.

    Args:
        lower: Its lower end.
        estimate: The estimate, `●`.
        upper: Its upper end.
        reach: The value at both ends of the line.
        half: Columns on each side of no change.
    """
    cells = [" "] * (2 * half + 1)
    start, middle, end = (_column(value, reach, half) for value in (lower, estimate, upper))
    for column in range(start, end + 1):
        cells[column] = "─"
    if end > start:
        cells[start], cells[end] = "├", "┤"
    cells[half] = "┃"
    cells[middle] = "●"
    return "".join(cells).rstrip()


def _column(value: float, reach: float, half: int) -> int:
    share = value / reach if reach > 0 else 0.0
    return half + round(half * min(max(share, -1.0), 1.0))
