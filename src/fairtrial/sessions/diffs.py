"""Unified diffs of what agents say they changed."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any, Final

_LONGEST_COMPARED: Final = 200_000


def from_hunks(hunks: Sequence[Any]) -> str:
    """Return the diff of hunks as Claude Code records them: starts, lengths, marked lines."""
    parts: list[str] = []
    for hunk in hunks:
        if not isinstance(hunk, Mapping) or not isinstance(hunk.get("lines"), list):
            continue
        old = f"-{hunk.get('oldStart', 0)},{hunk.get('oldLines', 0)}"
        new = f"+{hunk.get('newStart', 0)},{hunk.get('newLines', 0)}"
        parts.append(f"@@ {old} {new} @@")
        parts += [line for line in hunk["lines"] if isinstance(line, str)]
    return "\n".join(parts) + "\n" if parts else ""


def between(before: str, after: str) -> str:
    """Return the diff of two texts; empty when they are too long to compare."""
    if len(before) + len(after) > _LONGEST_COMPARED:
        return ""
    lines = difflib.unified_diff(_lines(before), _lines(after), n=3, lineterm="")
    body = list(lines)[2:]
    return "\n".join(body) + "\n" if body else ""


def added(text: str) -> str:
    """Return the diff of a new file."""
    return _whole(text, "@@ -0,0 +1,{} @@", "+")


def removed(text: str) -> str:
    """Return the diff of a file that is gone."""
    return _whole(text, "@@ -1,{} +0,0 @@", "-")


def _whole(text: str, head: str, mark: str) -> str:
    lines = _lines(text)
    if not lines:
        return ""
    return head.format(len(lines)) + "\n" + "".join(f"{mark}{line}\n" for line in lines)


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines
