"""The words of a command line that is not finished yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_ENDS = "|;&\n"
"""What ends a command outside of quotes."""


@dataclass(frozen=True, slots=True)
class Typed:
    """A command line up to the cursor.

    Attributes:
        words: The finished words, without quotes and backslashes; the first is the program.
        current: The word at the cursor, as far as it is typed.
        quote: The quote that is open there; empty outside of quotes.
    """

    words: Sequence[str]
    current: str
    quote: str


def typed(line: str) -> Typed:
    """Return the words of the last command on a line; nothing on it is an error."""
    words: list[str] = []
    current: str | None = None
    quote = ""
    characters = iter(line)
    for character in characters:
        if character == "\\" and quote != "'":
            current = (current or "") + next(characters, "")
        elif quote:
            if character == quote:
                quote = ""
            else:
                current = (current or "") + character
        elif character in "\"'":
            quote, current = character, current or ""
        elif character in _ENDS:
            words, current = [], None
        elif character.isspace():
            if current is not None:
                words.append(current)
            current = None
        else:
            current = (current or "") + character
    return Typed(words, current or "", quote)
