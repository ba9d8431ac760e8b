"""From text to the words and signs of a filter, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from fairtrial.model.errors import UsageError

LONGEST: Final = 10_000
"""Characters a filter may have."""

_PATTERN: Final = re.compile(
    r"""(?P<space>\s+)
      | (?P<open>\() | (?P<close>\)) | (?P<comma>,)
      | (?P<operator><=|>=|!=|!~|==|=|<|>|~)
      | (?P<quoted>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
      | (?P<word>[^\s()<>=!~,"']+)""",
    re.VERBOSE,
)


class Sort(StrEnum):
    """What a token is."""

    OPEN = "open"
    CLOSE = "close"
    COMMA = "comma"
    OPERATOR = "operator"
    QUOTED = "quoted"
    WORD = "word"
    END = "end"


@dataclass(frozen=True, slots=True)
class Token:
    """A word or a sign.

    Attributes:
        sort: What it is.
        text: Its characters; of a quoted text what stands between the quotes, unescaped.
        start: Position of its first character, from 0.
        end: Position after its last character.
    """

    sort: Sort
    text: str
    start: int
    end: int


def tokens(text: str) -> list[Token]:
    """Return the tokens of a filter; the last one is its end.

    Raises:
        UsageError: a quote is never closed, a sign means nothing, or it is too long.
    """
    if len(text) > LONGEST:
        raise UsageError(f"the filter has {len(text):,} characters, at most {LONGEST:,} are read")
    return [*_tokens(text), Token(Sort.END, "", len(text), len(text))]


def _tokens(text: str) -> Iterator[Token]:
    at = 0
    while at < len(text):
        found = _PATTERN.match(text, at)
        if found is None:
            what = "a quote is never closed" if text[at] in "\"'" else f"{text[at]!r} means nothing"
            raise at_column(what, text, at)
        at = found.end()
        sort = found.lastgroup or ""
        if sort == "space":
            continue
        shown = found.group()
        if sort == "quoted":
            shown = re.sub(r"\\(.)", r"\1", shown[1:-1], flags=re.DOTALL)
        yield Token(Sort(sort), shown, found.start(), found.end())


def at_column(what: str, text: str, at: int, fix: str | None = None) -> UsageError:
    """Return an error that shows the filter with a mark under the place."""
    line = "".join(character if character.isprintable() else "?" for character in text)
    first = max(0, at - 60)
    shown = line[first : first + 100]
    lead = "…" if first else ""
    return UsageError(
        f"{what} (column {at + 1})\n  {lead}{shown}\n  {' ' * (len(lead) + at - first)}^", fix=fix
    )
