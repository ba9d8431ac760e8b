"""What an agent must not see, and whether some bytes give it away."""

from __future__ import annotations

import base64
import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from fairtrial.model.eval_task import EvalTask
from fairtrial.suites.telling_lines import ENOUGH, TELLING, telling_lines

_SMALLEST: Final = 16
"""Bytes below which a whole file is no secret: others have the same by accident."""

_SHORT: Final = 64 * 1024


class Shown(StrEnum):
    """How much of a secret some bytes show."""

    WHOLE = "whole"
    """All of it, as it is, in base64, or as a JSON text."""
    HALF = "half"
    """At least half of its telling lines."""
    LINES = "lines"
    """A few of its telling lines, as files of one kind may share."""


class Content:
    """Some bytes in which secrets are looked for.

    Attributes:
        data: The bytes.
    """

    __slots__ = ("_lines", "_text", "data")

    def __init__(self, data: bytes) -> None:
        self.data = data
        text = data.decode("utf-8", "replace")
        stripped = (line.strip() for line in text.split("\n"))
        self._lines = frozenset(line for line in stripped if len(line) >= TELLING)
        # Where it costs little, lines are found that are quoted, commented out or numbered, too.
        self._text = text if len(text) <= _SHORT else ""

    def has(self, line: str) -> bool:
        """Return whether a line is in it."""
        return line in self._lines or line in self._text


@dataclass(frozen=True, slots=True)
class Secret:
    """One thing that an agent must not see.

    Attributes:
        name: What it is, in words.
        forms: Each of them gives it away whole.
        lines: Its lines that stand in no other file by accident.
        path: Where the verifier puts it; None for what is put nowhere.
    """

    name: str
    forms: tuple[bytes, ...]
    lines: frozenset[str]
    path: str | None = None

    def shown_in(self, content: Content) -> Shown | None:
        """Return how much of it some content shows."""
        if any(form in content.data for form in self.forms):
            return Shown.WHOLE
        seen = sum(content.has(line) for line in self.lines)
        if seen and seen >= min(ENOUGH, len(self.lines)):
            return Shown.HALF if 2 * seen >= len(self.lines) else Shown.LINES
        return None


def secrets_of(task: EvalTask) -> list[Secret]:
    """Return what the agent of a task must not see: hidden files, the solution, the reference."""
    found = [
        Secret(f"the hidden file {path}", _forms(data), telling_lines(data), path)
        for path, data in task.verifier.hidden.items()
    ]
    found += [
        Secret(f"the solution's file {path}", _forms(data), telling_lines(data))
        for path, data in task.solution.items()
    ]
    if task.reference is not None:
        data = task.reference.encode("utf-8", "surrogateescape")
        # As lines of a patch: the code itself may well stand elsewhere, e.g. where it is moved.
        added = frozenset(line for line in _lines(data) if line.startswith("+") and _telling(line))
        found.append(Secret("reference.patch", _forms(data), added))
    return found


def _lines(data: bytes) -> Iterator[str]:
    return (line.strip() for line in data.decode("utf-8", "replace").split("\n"))


def _telling(line: str) -> bool:
    return len(line) > TELLING and not line.startswith("+++")


def _forms(data: bytes) -> tuple[bytes, ...]:
    whole = data.strip()
    if len(whole) < _SMALLEST:
        return ()
    forms = [whole]
    if b"\r\n" in whole or b"\n" in whole:
        unix = whole.replace(b"\r\n", b"\n")
        forms += [unix, unix.replace(b"\n", b"\r\n")]
    with contextlib.suppress(UnicodeDecodeError):
        text = whole.decode()
        forms += [json.dumps(text, ensure_ascii=plain)[1:-1].encode() for plain in (True, False)]
    # Three bytes are four characters of base64: where it begins decides how it looks.
    for offset in range(3):
        part = whole[offset:]
        forms.append(base64.b64encode(part[: len(part) // 3 * 3]))
    return tuple(dict.fromkeys(form for form in forms if len(form) >= _SMALLEST))
