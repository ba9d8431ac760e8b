"""A merge conflict that was not settled: its markers are no instructions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from fairtrial.model.errors import UsageError
from fairtrial.model.harness import Harness

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_MARKS: Final = ("<<<<<<<", "=======", ">>>>>>>")


def conflict_line(text: str) -> int | None:
    """Return the line, from 1, at which a conflict begins; None when there is none.

    A conflict is `<<<<<<<`, `=======` and `>>>>>>>` at the beginnings of lines, in this order and
    with nothing or a space behind them. Within a fence of code they are taken for what instructions
    tell of conflicts, unless the fence is itself torn by one.
    """
    waiting, first = 0, None
    for number, line in _plain_lines(text):
        mark = line[:7]
        if mark not in _MARKS or line[7:8] not in ("", " "):
            continue
        if mark == _MARKS[0]:
            waiting, first = 1, number
        elif mark == _MARKS[waiting] and waiting:
            waiting += 1
            if waiting == len(_MARKS):
                return first
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


def _plain_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield lines outside of closed fences, with their numbers."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        found = _FENCE.match(lines[at])
        end = _end_of(lines, at, found.group(1)) if found else None
        if end is not None:
            at = end + 1
            continue
        yield at + 1, lines[at]
        at += 1


def _end_of(lines: list[str], start: int, fence: str) -> int | None:
    closing = re.compile(rf" {{0,3}}{re.escape(fence[0])}{{{len(fence)},}}\s*\Z")
    marks = 0
    for at in range(start + 1, len(lines)):
        line = lines[at]
        if closing.match(line):
            # An odd end: the conflict goes on behind the fence that it tore.
            return at if marks in (0, len(_MARKS)) else None
        if marks < len(_MARKS) and line[:7] == _MARKS[marks]:
            marks += 1
    return None
