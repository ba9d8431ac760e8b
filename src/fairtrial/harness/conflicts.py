"""A merge conflict that was not settled: its markers are no instructions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from fairtrial.model.errors import UsageError
from fairtrial.model.harness import Harness

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_MARKS: Final = ("<<<<<<<", "=======", ">>>>>>>")


def conflict_line(text: str) -> int | None:
    """Return the line, from 1, at which a conflict begins; None when there is none.

    A conflict is `<<<<<<<`, `=======` and `>>>>>>>` at the beginnings of lines, in this order and
    with nothing or a space behind them. One that a fence of code holds as a whole is taken for what
    instructions tell of conflicts.
    """
    lines = text.split("\n")
    fences = list(_fences(lines))
    found: list[int] = []
    for number, line in enumerate(lines):
        mark = line[:7] if line[7:8] in ("", " ") else ""
        if mark == _MARKS[0]:
            found = [number]
        elif found and mark == _MARKS[len(found)]:
            found.append(number)
        if len(found) == len(_MARKS):
            if not any(start < found[0] and found[-1] < end for start, end in fences):
                return found[0] + 1
            found = []
    return None


def refuse_conflicts(harness: Harness) -> None:
    """Refuse a harness with a merge conflict in it.

    Raises:
        UsageError: a file has one.
    """
    for path, text in harness.files.items():
        line = conflict_line(text)
        if line is not None:
            raise UsageError(
                f"{path} has a merge conflict",
                where=f"{harness.label}, {path}, line {line}",
                fix="settle it, take the lines <<<<<<<, ======= and >>>>>>> out, and try again",
            )


def _fences(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the lines at which fences of code begin and end; one that is not closed is none."""
    opened, start = "", 0
    for number, line in enumerate(lines):
        found = _FENCE.match(line)
        if found is None:
            continue
        fence, info = found.groups()
        if not opened:
            opened, start = fence, number
        elif fence.startswith(opened) and not info.strip():
            yield start, number
            opened = ""
