"""The sentences of a file of instructions, each with its lines, however the text is wrapped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FENCE: Final = re.compile(r"\s*(?:```|~~~)")
_STARTS: Final = re.compile(r"\s*(?:[-*+]\s+(?:\[[ xX]\]\s+)?|\d+[.)]\s+|>+\s*|#{1,6}\s+|\|)")
_END: Final = re.compile(r"(?<=[.!?;])[\"')\]*_`]*\s+(?=\S)")
_SPACE: Final = re.compile(r"\s+")
_MARKS: Final = re.compile(r"[*_`]+")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence.

    Attributes:
        text: Its words, with single blanks.
        first: The line it begins in, from 1.
        last: The line it ends in.
    """

    text: str
    first: int
    last: int

    @property
    def key(self) -> str:
        """What is equal for sentences that say the same in other marks."""
        return _MARKS.sub("", self.text).rstrip(" .").casefold()


def sentences(text: str, *, wrapped: bool = True) -> list[Sentence]:
    """Return the sentences of a text in their order.

    Items of lists, headings, rows of tables and lines of code stand for themselves; what HTML
    comments say is said to nobody.

    Args:
        text: The text.
        wrapped: Whether a sentence may go on in the next line; else each line is taken for one.
    """
    found: list[Sentence] = []
    lines = _without_comments(text).split("\n")
    if not wrapped:
        return [
            Sentence(_SPACE.sub(" ", line).strip(), number, number)
            for number, line in enumerate(lines, start=1)
            if line.strip()
        ]
    for block in _blocks(lines):
        found += _of_block(block)
    return found


def _without_comments(text: str) -> str:
    return _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)


def _blocks(lines: Sequence[str]) -> Iterator[list[tuple[int, str]]]:
    """Yield what belongs together, as numbered lines."""
    block: list[tuple[int, str]] = []
    fenced = False
    for number, line in enumerate(lines, start=1):
        fence = _FENCE.match(line) is not None
        starts = _STARTS.match(line)
        if block and (fence or fenced or starts or not line.strip()):
            yield block
            block = []
        if fence:
            fenced = not fenced
        elif line.strip():
            plain = line if fenced or starts is None else line[starts.end() :]
            block.append((number, plain.strip()))
            if starts is not None and "#" in starts[0]:
                yield block
                block = []
    if block:
        yield block


def _of_block(block: Sequence[tuple[int, str]]) -> Iterator[Sentence]:
    joined, starts = "", []
    for number, line in block:
        starts.append((len(joined), number))
        joined += f"{line} "
    begin = 0
    for end in [*(found.end() for found in _END.finditer(joined)), len(joined)]:
        words = _SPACE.sub(" ", joined[begin:end]).strip()
        if words:
            last = begin + len(joined[begin:end].rstrip()) - 1
            yield Sentence(words, _line_at(starts, begin), _line_at(starts, last))
        begin = end


def _line_at(starts: Sequence[tuple[int, int]], place: int) -> int:
    return next(number for start, number in reversed(starts) if start <= place)
