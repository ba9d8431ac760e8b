"""Decoding records that may be torn, glued together, or of a form that nobody has seen yet."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, Generic, TypeVar

import msgspec

from fairtrial.model.json import Json
from fairtrial.sessions.lines import cleaned

_T = TypeVar("_T", bound=msgspec.Struct)
_ANY = msgspec.json.Decoder()
_START: Final = re.compile(r'\{\s*"')
_MOST_TRIES: Final = 500


class Records(Generic[_T]):
    """Decodes lines to records of one typed form. What does not fit is left out, not the record."""

    def __init__(self, kind: type[_T]) -> None:
        self._kind = kind
        self._decoder = msgspec.json.Decoder(kind)
        self._fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
        self.names = frozenset(self._fields)

    def of(self, line: bytes) -> _T | None:
        """Return the record of a line; None when it holds none."""
        try:
            return self._decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            found = plain(line)
            return None if found is None else self.of_plain(found)

    def of_plain(self, found: Mapping[str, Json]) -> _T:
        """Return the record of an object, without the fields that have another form."""
        kept: dict[str, Any] = {}
        for name, value in found.items():
            field = self._fields.get(name)
            if field is None:
                continue
            try:
                kept[field.name] = msgspec.convert(value, field.type)
            except msgspec.ValidationError:
                continue
        return self._kind(**kept)


def plain(line: bytes) -> dict[str, Json] | None:
    """Return the object of a line; None when it holds none. Broken text in it is replaced."""
    try:
        found = _ANY.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        found = _salvaged(line)
    return found if isinstance(found, dict) else None


def parsed(text: Json) -> Json:
    """Return the value of JSON in a text, or what was given when it is no object and no list.

    Broken text in it is replaced.
    """
    if not isinstance(text, str) or not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return _ANY.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        pass
    except RecursionError:
        return text
    try:
        return _harmless(json.loads(text))
    except (ValueError, RecursionError):
        return text


def _salvaged(line: bytes) -> Json:
    text = cleaned(line).decode("utf-8", "replace")
    try:
        return _harmless(json.loads(text, strict=False))
    except (ValueError, RecursionError):
        return None


def _harmless(value: Json) -> Json:
    """Return a value whose texts can be encoded: half a surrogate pair becomes a question mark."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_harmless(part) for part in value]
    if isinstance(value, dict):
        return {_harmless(name): _harmless(part) for name, part in value.items()}
    return value


def unglued(line: bytes) -> Iterator[bytes]:
    """Yield the records in a line that is none: two in one line, or a torn one before a whole one.

    A part of a torn record is no record, so only what reaches up to the end of the line, or to the
    next record, counts.
    """
    text = cleaned(line).decode("utf-8", "replace")
    decoder, tries = json.JSONDecoder(strict=False), 0
    start = _START.search(text)
    while start is not None and tries < _MOST_TRIES:
        tries += 1
        try:
            found, end = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            start = _START.search(text, start.end())
            continue
        rest = text[end:].lstrip()
        if isinstance(found, dict) and (not rest or rest.startswith("{")):
            yield text[start.start() : end].encode("utf-8", "replace")
            start = _START.search(text, end)
        else:
            start = _START.search(text, start.end())
