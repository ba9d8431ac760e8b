"""What was measured, as rows of one table."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bench.measuring import MB, Result

HEAD = ("workload", "what", "ours", "floor", "ratio", "target", "", "CPU", "memory")


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison.

    Attributes:
        workload: Its id, e.g. `W2`.
        what: What was done.
        unit: `ms`, `µs`, `MB` or `×`.
        ours: What it took us, in that unit.
        floor: What it takes at least; None when the target is a plain figure.
        target: The most that ours / floor (or ours alone) may be; None only informs.
        memory_mb: Our peak memory; 0 is not told.
        cpu: Our CPU time over the floor's, which a busy machine changes less; 0 is not told.
    """

    workload: str
    what: str
    unit: str
    ours: float
    floor: float | None
    target: float | None
    memory_mb: float = 0.0
    cpu: float = 0.0

    @property
    def ratio(self) -> float:
        """What is held against the target."""
        return self.ours if self.floor is None else self.ours / self.floor

    @property
    def holds(self) -> bool:
        """Whether the target is met."""
        return self.target is None or self.ratio <= self.target

    def json(self) -> dict[str, Any]:
        """Return the row as one JSON object."""
        return {**dataclasses.asdict(self), "ratio": self.ratio, "holds": self.holds}


def times(workload: str, what: str, ours: Result, floor: Result, target: float | None) -> Row:
    """Return the row of two programs' wall times."""
    memory, cpu = ours.rss / MB, ours.cpu_s / floor.cpu_s
    return Row(workload, what, "ms", ours.wall_s * 1e3, floor.wall_s * 1e3, target, memory, cpu)


def memory(workload: str, what: str, ours: Result, most_mb: float) -> Row:
    """Return the row of a program's peak memory against a limit."""
    return Row(workload, f"{what}: memory", "MB", ours.rss / MB, None, most_mb)


def text(rows: Iterable[Row]) -> str:
    """Return the table in Markdown, which reads well on a terminal too."""
    lines = [HEAD, *map(_cells, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    lines.insert(1, tuple("-" * width for width in widths))
    return "\n".join(
        "| "
        + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        + " |"
        for line in lines
    )


def as_json(rows: Iterable[Row]) -> str:
    """Return the table as JSON."""
    return json.dumps([row.json() for row in rows], ensure_ascii=False, indent=2)


def _cells(row: Row) -> tuple[str, ...]:
    mark = "" if row.target is None else "ok" if row.holds else "OVER"
    return (
        row.workload,
        row.what,
        f"{row.ours:.4g} {row.unit}",
        "" if row.floor is None else f"{row.floor:.4g} {row.unit}",
        "" if row.floor is None else f"{row.ratio:.1f}×",
        "" if row.target is None else f"≤ {row.target:g}" + ("×" if row.floor is not None else ""),
        mark,
        f"{row.cpu:.1f}×" if row.cpu else "",
        f"{row.memory_mb:.0f} MB" if row.memory_mb else "",
    )
