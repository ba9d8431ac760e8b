"""A file before a session, by taking back from the file after it what the agent changed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_HUNK: Final = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_NOT_WHOLE: Final = ("[redacted", " characters left out …]", "\\ No newline")


def reversed_data(after: bytes, diffs: Sequence[str]) -> bytes | None:
    """Return a file as it was before some changes.

    None when a change is not told in full, or when one does not fit exactly at its lines: then
    something else changed the file, too.

    Args:
        after: The file after all of them.
        diffs: Unified diffs with line numbers, the first first.
    """
    try:
        lines = after.decode().split("\n")
    except UnicodeDecodeError:
        return None
    for diff in reversed(diffs):
        if not diff or any(mark in diff for mark in _NOT_WHOLE):
            return None
        before = _reversed(lines, diff)
        if before is None:
            return None
        lines = before
    return "\n".join(lines).encode()


def _reversed(lines: list[str], diff: str) -> list[str] | None:
    found = list(lines)
    for start, old, new in reversed(_hunks(diff)):
        place = start - 1 if new else start
        if place < 0 or found[place : place + len(new)] != new:
            return None
        found[place : place + len(new)] = old
    return found if _hunks(diff) else None


def _hunks(diff: str) -> list[tuple[int, list[str], list[str]]]:
    """Return where each hunk stands in the file after, its old and its new lines."""
    found: list[tuple[int, list[str], list[str]]] = []
    for line in diff.removesuffix("\n").split("\n"):
        numbers = _HUNK.match(line)
        if numbers is not None:
            found.append((int(numbers[3]), [], []))
        elif not found:
            return []
        else:
            if line.startswith((" ", "-")):
                found[-1][1].append(line[1:])
            if line.startswith((" ", "+")):
                found[-1][2].append(line[1:])
    return found
