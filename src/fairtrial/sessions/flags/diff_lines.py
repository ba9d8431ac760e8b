"""What a change added and removed, line by line."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Final

from fairtrial.model.session import FileChange

_CUT: Final = "characters left out …]"
_SAYS_NOTHING: Final = re.compile(r"[+-]\s*(?:(?:#|//|/\*|\*|--|<!--|\"\"\"|''').*)?$")


@dataclass(frozen=True, slots=True)
class DiffLines:
    """The lines of a change; a line that is only moved is in neither.

    Attributes:
        added: Lines that are there now, without the space around them, in order.
        removed: Lines that were there before.
        whole: Whether the transcript tells all of the change.
    """

    added: tuple[str, ...]
    removed: tuple[str, ...]
    whole: bool = True


def diff_lines(change: FileChange) -> DiffLines:
    """Return what a change added and removed."""
    added: list[str] = []
    removed: list[str] = []
    for line in change.diff.split("\n"):
        mark = line[:1]
        if mark == "+":
            added.append(line[1:].strip())
        elif mark == "-":
            removed.append(line[1:].strip())
    if added and removed:
        moved = Counter(added) & Counter(removed)
        if moved:
            added, removed = _without(added, moved), _without(removed, moved)
    return DiffLines(tuple(added), tuple(removed), _CUT not in change.diff)


def _without(lines: list[str], moved: Counter[str]) -> list[str]:
    left = moved.copy()
    kept = []
    for line in lines:
        if left[line] > 0:
            left[line] -= 1
        else:
            kept.append(line)
    return kept


def lines_of_code(change: FileChange) -> int:
    """Return how many lines a change adds and removes that are neither blank nor comments.

    It is 1 when the transcript does not tell the lines.
    """
    if not change.diff:
        return 1
    return sum(
        line[:1] in ("+", "-") and not _SAYS_NOTHING.fullmatch(line)
        for line in change.diff.split("\n")
    )
