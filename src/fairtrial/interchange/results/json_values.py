"""JSON as tools really write it: with NaN, half characters, huge numbers and torn ends."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final, TypeVar

import msgspec

from fairtrial.interchange.results.contract import Notes
from fairtrial.model.json import Json

T = TypeVar("T")

_DECODER: Final = msgspec.json.Decoder()
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_TOKENS: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|-?\b(?:NaN|Infinity)\b', re.DOTALL)
_ESCAPES: Final = re.compile(
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
"""A backslash, a whole pair of escapes, or half of one."""
_MENDED: Final = (b"NaN", b"Infinity", rb"\ud", rb"\uD")
NOT_FINITE: Final = "numbers that are not finite (NaN, Infinity): taken as none"
_HALF: Final = "texts with half a character: it was replaced"
_LONGEST_REASON: Final = 200


class Unreadable(Exception):  # noqa: N818  # a finding that the caller counts or words
    """A text is no JSON in any of the ways that are taken; `str()` says why."""


def value_of(data: bytes | str | msgspec.Raw, notes: Notes, where: str | None = None) -> Json:
    """Return the value of a JSON text; a number that is not finite is None.

    Args:
        data: The text.
        notes: Counts what was not taken as it stands.
        where: Where it stands.

    Raises:
        Unreadable: it is no JSON, or is nested too deeply.
    """
    try:
        return _DECODER.decode(data)
    except RecursionError:
        raise Unreadable("it is nested too deeply") from None
    except (msgspec.MsgspecError, UnicodeError):
        return _tolerant(data if isinstance(data, str) else bytes(data), notes, where)


def parts_of(data: Any, kind: type[T], notes: Notes) -> T:
    """Return a JSON document in parts, of which `msgspec.Raw` ones are not decoded yet.

    Args:
        data: The document: bytes or anything that gives them, such as a file in memory.
        kind: What it is.
        notes: Counts what was not taken as it stands.

    Raises:
        Unreadable: it is no JSON, or another thing.
    """
    try:
        return msgspec.json.decode(data, type=kind)
    except RecursionError:
        raise Unreadable("it is nested too deeply") from None
    except (msgspec.MsgspecError, UnicodeError) as error:
        given = bytes(data)
        if not any(mark in given for mark in _MENDED):
            raise Unreadable(_said(error)) from None
    # Decoding goes over the whole text, so what no strict reader takes must be gone first.
    mended, count = _without_constants(given)
    if count:
        notes.add(NOT_FINITE, n=count)
    mended, halves = _without_halves(mended)
    if halves:
        notes.add(_HALF, n=halves)
    try:
        return msgspec.json.decode(mended, type=kind)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise Unreadable(_said(error)) from None


def _without_constants(data: bytes) -> tuple[bytes, int]:
    count = 0

    def mended(found: re.Match[bytes]) -> bytes:
        nonlocal count
        if found[0].startswith(b'"'):
            return found[0]
        count += 1
        return b"null"

    return _TOKENS.sub(mended, data), count


def _without_halves(data: bytes) -> tuple[bytes, int]:
    count = 0

    def mended(found: re.Match[bytes]) -> bytes:
        nonlocal count
        if found["half"] is None:
            return found[0]
        count += 1
        return rb"\ufffd"

    return _ESCAPES.sub(mended, data), count


def _tolerant(data: bytes | str, notes: Notes, where: str | None) -> Json:
    text = data if isinstance(data, str) else data.decode("utf-8", "replace")
    if isinstance(data, bytes) and "\ufffd" in text and b"\xef\xbf\xbd" not in data:
        notes.add("texts that are not UTF-8: what is no character was replaced", where)
    try:
        return _cleaned(json.loads(text), notes, where)
    except RecursionError:
        raise Unreadable("it is nested too deeply") from None
    except ValueError as error:  # also an integer of thousands of digits
        raise Unreadable(_said(error)) from None


def _cleaned(value: Json, notes: Notes, where: str | None) -> Json:
    if isinstance(value, float) and not math.isfinite(value):
        notes.add(NOT_FINITE, where)
        return None
    if isinstance(value, str) and _SURROGATE.search(value):
        notes.add(_HALF, where)
        return whole(value)
    if isinstance(value, list):
        return [_cleaned(item, notes, where) for item in value]
    if isinstance(value, dict):
        return {whole(name): _cleaned(item, notes, where) for name, item in value.items()}
    return value


def whole(text: str) -> str:
    """Return a text without half characters."""
    return _SURROGATE.sub("\ufffd", text)


def _said(error: Exception) -> str:
    return str(error).replace("`", "'")[:_LONGEST_REASON]
