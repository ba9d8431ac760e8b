"""What differs between two texts, in pieces that a page marks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_MOST_CHARACTERS: Final = 40_000
_MOST_PIECES: Final = 5_000
_WORDS: Final = re.compile(r"\s+|\w+|[^\w\s]")
_LINES: Final = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text.

    Attributes:
        kind: `same`, `gone` (in the first text only) or `new` (in the second only).
        text: The part.
    """

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Diff:
    """What differs between two texts.

    Attributes:
        pieces: Both texts, interwoven; none when they were too long to be compared.
        whole: Whether all of both texts was looked at.
    """

    pieces: Sequence[Piece]
    whole: bool

    @property
    def same(self) -> bool:
        """Whether both texts are the same."""
        return self.whole and all(piece.kind == "same" for piece in self.pieces)


def diff_of(before: str, after: str) -> Diff:
    """Return what differs between two texts: by words, or by lines where they are long.

    Only the start of very long texts is looked at.
    """
    whole = max(len(before), len(after)) <= _MOST_CHARACTERS
    texts = before[:_MOST_CHARACTERS], after[:_MOST_CHARACTERS]
    for pattern in (_WORDS, _LINES):
        a, b = (pattern.findall(text) for text in texts)
        if max(len(a), len(b)) <= _MOST_PIECES:
            return Diff(_pieces(a, b), whole)
    return Diff((), whole=False)


def _pieces(a: Sequence[str], b: Sequence[str]) -> list[Piece]:
    from rapidfuzz.distance import Indel  # noqa: PLC0415  # only comparisons need it

    found: list[Piece] = []
    gone = new = ""
    for op in Indel.opcodes(a, b):
        source = "".join(a[op.src_start : op.src_end])
        if op.tag != "equal":
            gone += source
            new += "".join(b[op.dest_start : op.dest_end])
            continue
        found += [*_changed(gone, new), Piece("same", source)]
        gone = new = ""
    return found + _changed(gone, new)


def _changed(gone: str, new: str) -> list[Piece]:
    """Return what is gone, and then what is new in its place."""
    return [Piece(kind, text) for kind, text in (("gone", gone), ("new", new)) if text]
