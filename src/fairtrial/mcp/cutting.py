"""Cuts a report to what an agent's window has room for, and says what was cut."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

_STEPS: Final = (
    (1_000, 20_000),
    (200, 4_000),
    (50, 2_000),
    (20, 1_000),
    (20, 400),
    (10, 300),
    (10, 160),
    (5, 160),
    (3, 120),
    (2, 80),
    (1, 60),
    (0, 40),
)
"""Entries of a list and characters of a text that stay; the first step that fits is taken."""
_TOLD: Final = 12
"""Places that are named; there may be as many as there are entries."""
_DEEPEST: Final = 40


@dataclass(frozen=True, slots=True)
class Cut:
    """A value that was cut.

    Attributes:
        value: What is left.
        places: What was cut, a line each: where, and how much of how much is left.
    """

    value: Any
    places: tuple[str, ...] = ()


def cut(value: Any, budget: int, shown: Callable[[str], str]) -> Cut:
    """Return a JSON value that takes at most about `budget` characters.

    Args:
        value: The value.
        budget: Characters.
        shown: What becomes of each text, after it was cut.
    """
    left = Cut(value)
    for entries, characters in _STEPS:
        cutter = _Cutter(entries, characters, shown)
        left = Cut(cutter.cut(value, "", 0), tuple(cutter.places()))
        if len(json.dumps(left.value, ensure_ascii=False)) <= budget:
            return left
    top = left.value
    if isinstance(top, dict):  # wide beyond measure: its plain facts stay
        plain = {name: one for name, one in top.items() if not isinstance(one, dict | list)}
        return Cut(plain, ("/: only its plain values",))
    return left


@dataclass
class _Cutter:
    entries: int
    characters: int
    shown: Callable[[str], str]
    found: list[str] = field(default_factory=list)
    more: int = 0

    def cut(self, value: Any, place: str, depth: int) -> Any:
        if isinstance(value, str):
            return self._text(value, place)
        if depth > _DEEPEST and isinstance(value, dict | list | tuple):
            self._tell(f"{place}: nested deeper than {_DEEPEST}")
            return "…"
        if isinstance(value, dict):
            return {
                self.shown(str(name)): self.cut(one, f"{place}/{name}", depth + 1)
                for name, one in value.items()
            }
        if isinstance(value, list | tuple):
            if len(value) > self.entries:
                self._tell(f"{place}: {self.entries:,} of {len(value):,} entries")
            return [
                self.cut(one, f"{place}/{n}", depth + 1)
                for n, one in enumerate(value[: self.entries])
            ]
        return value

    def _text(self, text: str, place: str) -> str:
        if len(text) <= self.characters:
            return self.shown(text)
        self._tell(f"{place}: {self.characters:,} of {len(text):,} characters")
        return self.shown(text[: self.characters]) + "…"

    def _tell(self, what: str) -> None:
        if len(self.found) < _TOLD:
            self.found.append(self.shown(what))
        else:
            self.more += 1

    def places(self) -> list[str]:
        return [*self.found, *([f"and {self.more:,} more places"] if self.more else [])]
