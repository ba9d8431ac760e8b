"""From a file that is one JSON document, which is always written anew, to its records."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import msgspec

from fairtrial.model.json import Json
from fairtrial.ports.transcript_files import FoundFile, Line
from fairtrial.sessions.lines import LONGEST_LINE, cleaned
from fairtrial.sessions.tolerant import plain

LONGEST_DOCUMENT: Final = 256 * 1024 * 1024
"""Bytes of a document that is read; of a longer one nothing is."""

_WIDE: Final = (b"\xff\xfe", b"\xfe\xff")
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],]', re.DOTALL)
_CLOSES: Final = {"{": "}", "[": "]"}
_DEEPEST: Final = 200
_BROKEN: Final = b"?"
"""A line that is no record, which stands for what could not be read."""

Split = Callable[[Mapping[str, Json]], Iterable[Json]]
"""Returns the records of a document, in the order in which they came."""


class Document:
    """A file that is one document: it is read whole, and again when its hash changed."""

    def __init__(self, path: str, split: Split) -> None:
        self._path = Path(path)
        self._split = split
        self._data: bytes | None = None

    def inside(self) -> tuple[FoundFile, ...]:
        """See `TranscriptSource.inside`."""
        return ()

    def tail(self, offset: int) -> bytes:  # noqa: ARG002  # it is read whole, or not at all
        """See `TranscriptSource.tail`."""
        return hashlib.sha256(self._bytes()).digest()[:16]

    def lines(self, offset: int) -> Iterator[Line]:
        """See `TranscriptSource.lines`."""
        data = self._bytes()
        end = len(data)
        if offset > 0 or not data.strip(b"\0\r\n\t "):
            return
        if end > LONGEST_DOCUMENT:
            yield Line(None, end)
            return
        found, whole = decoded(data)
        for record in () if found is None else self._split(found):
            yield line_of(record, end)
        if not whole:
            yield Line(_BROKEN, end)

    def _bytes(self) -> bytes:
        # What is hashed is what was read, even if the file is written anew meanwhile.
        if self._data is None:
            with self._path.open("rb") as file:
                self._data = file.read(LONGEST_DOCUMENT + 1)
        return self._data


def line_of(record: Json, end: int) -> Line:
    """Return a record as a line."""
    try:
        data = msgspec.json.encode(record)
    except (OverflowError, RecursionError, UnicodeEncodeError, msgspec.MsgspecError):
        return Line(_BROKEN, end)
    return Line(None if len(data) > LONGEST_LINE else data, end)


def decoded(data: bytes) -> tuple[Mapping[str, Json] | None, bool]:
    """Return the document, or what is whole of one that breaks off; and whether it is whole."""
    if data[:2] in _WIDE:
        data = data.decode("utf-16", "replace").encode("utf-8", "replace")
    found = plain(data)
    if found is not None:
        return found, True
    text = cleaned(data).decode("utf-8", "replace")
    try:
        json.loads(text, strict=False)
    except json.JSONDecodeError as error:
        part = mended(text[: error.pos])
        return (None if part is None else plain(part.encode("utf-8", "replace"))), False
    except (RecursionError, ValueError):
        pass
    return None, False


def mended(text: str) -> str | None:
    """Return the start of a JSON text, closed after the last value in it that is whole."""
    stack: list[str] = []
    kept: str | None = None
    for token in _TOKEN.finditer(text):
        sign = token[0]
        if sign in _CLOSES:
            stack.append(_CLOSES[sign])
            if len(stack) > _DEEPEST:
                break
        elif sign in "}]":
            if not stack or stack.pop() != sign:
                break
            kept = text[: token.end()] + "".join(reversed(stack)) if len(stack) < 3 else kept
        elif sign == "," and 0 < len(stack) < 3:
            kept = text[: token.start()] + "".join(reversed(stack))
    return kept
