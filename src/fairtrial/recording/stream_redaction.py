"""Secrets in an event stream, where a model writes a few letters at a time.

A key that a model repeats comes in pieces, one an event; no piece looks like a key. So the pieces
of each text are put together, searched, and what belongs to a secret is taken out of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from fairtrial.redaction.secrets import Redactor

_PIECES = ("text", "partial_json", "thinking", "content", "arguments", "reasoning_content", "input")
"""Fields of a delta that hold a piece of a text."""
_DATA = b"data:"


@dataclass(slots=True)
class _Piece:
    """A piece of a text: the line it is in, the object that holds it, and its key there."""

    line: int
    holder: dict[str, Any]
    key: str

    @property
    def data(self) -> bytes:
        text: str = self.holder[self.key]
        return text.encode("utf-8", "surrogatepass")


class _Call(msgspec.Struct):
    index: Any = None
    function: dict[str, Any] | None = None


class _Delta(msgspec.Struct):
    text: str | None = None
    partial_json: str | None = None
    thinking: str | None = None
    content: str | None = None
    arguments: str | None = None
    reasoning_content: str | None = None
    input: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(msgspec.Struct):
    index: Any = None
    delta: _Delta | None = None


class _Event(msgspec.Struct):
    type: Any = None
    index: Any = None
    item_id: Any = None
    output_index: Any = None
    content_index: Any = None
    delta: _Delta | str | None = None
    choices: list[_Choice] | None = None


_READ = msgspec.json.Decoder(_Event)


def without_secrets(stream: bytes, redactor: Redactor, credentials: Iterable[bytes] = ()) -> bytes:
    """Return an event stream without secrets, also those spread over several events.

    Events without one stay as they are, byte by byte.
    """
    stream = redactor.body(stream, credentials)
    lines = stream.split(b"\n")
    texts: dict[tuple[Any, ...], list[str]] = {}
    for line in lines:
        if line.startswith(_DATA):
            _gather(line, texts)
    if any(redactor.spans(_joined(pieces), credentials) for pieces in texts.values()):
        return _rewritten(lines, redactor, credentials)
    return stream


def _gather(line: bytes, texts: dict[tuple[Any, ...], list[str]]) -> None:
    """Add the pieces of text in an event; as `_pieces`, without holding on to the event."""
    try:
        event = _READ.decode(line[len(_DATA) :])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return
    delta = event.delta
    if isinstance(delta, str):
        name = (event.type, event.item_id, event.output_index, event.content_index)
        texts.setdefault(name, []).append(delta)
    elif delta is not None:
        _gather_delta((event.type, event.index), delta, texts)
    for choice in event.choices or ():
        if choice.delta is not None:
            _gather_delta(("choice", choice.index), choice.delta, texts)


def _gather_delta(
    name: tuple[Any, ...], delta: _Delta, texts: dict[tuple[Any, ...], list[str]]
) -> None:
    for key in _PIECES:
        piece = getattr(delta, key)
        if piece:
            texts.setdefault((*name, key), []).append(piece)
    for call in delta.tool_calls or ():
        arguments = (call.function or {}).get("arguments")
        if isinstance(arguments, str):
            texts.setdefault((*name, call.index, "call"), []).append(arguments)


def _joined(pieces: list[str]) -> bytes:
    return "".join(pieces).encode("utf-8", "surrogatepass")


def _rewritten(lines: list[bytes], redactor: Redactor, credentials: Iterable[bytes]) -> bytes:
    documents: dict[int, Any] = {}
    texts: dict[tuple[Any, ...], list[_Piece]] = {}
    for number, line in enumerate(lines):
        if not line.startswith(_DATA):
            continue
        try:
            document = msgspec.json.decode(line[len(_DATA) :])
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
        for name, holder, key in _pieces(document):
            documents[number] = document
            texts.setdefault(name, []).append(_Piece(number, holder, key))
    changed: set[int] = set()
    for pieces in texts.values():
        changed |= _clean(pieces, redactor, credentials)
    for number in changed:
        end = b"\r" if lines[number].endswith(b"\r") else b""
        lines[number] = _DATA + b" " + msgspec.json.encode(documents[number]) + end
    return b"\n".join(lines)


def _pieces(document: Any) -> Iterator[tuple[tuple[Any, ...], dict[str, Any], str]]:
    """Yield the pieces of text in an event: which text, the object that holds it, its key."""
    if not isinstance(document, dict):
        return
    delta = document.get("delta")
    kind = document.get("type")
    if isinstance(delta, str):  # Responses
        name = (kind, *(document.get(key) for key in ("item_id", "output_index", "content_index")))
        yield name, document, "delta"
    elif isinstance(delta, dict):  # Messages
        for key in _text_keys(delta):
            yield (kind, document.get("index"), key), delta, key
    choices = document.get("choices")
    for choice in choices if isinstance(choices, list) else ():  # Chat Completions
        part = choice.get("delta") if isinstance(choice, dict) else None
        if isinstance(part, dict):
            yield from _of_choice(choice.get("index"), part)


def _of_choice(
    index: Any, part: dict[str, Any]
) -> Iterator[tuple[tuple[Any, ...], dict[str, Any], str]]:
    for key in _text_keys(part):
        yield ("choice", index, key), part, key
    calls = part.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict) and isinstance(function.get("arguments"), str):
            yield ("choice", index, call.get("index")), function, "arguments"


def _text_keys(holder: dict[str, Any]) -> list[str]:
    return [key for key in _PIECES if isinstance(holder.get(key), str)]


def _clean(pieces: list[_Piece], redactor: Redactor, credentials: Iterable[bytes]) -> set[int]:
    """Take secrets out of a text in pieces; return the lines that changed."""
    parts = [piece.data for piece in pieces]
    spans = redactor.spans(b"".join(parts), credentials)
    if not spans:
        return set()
    changed = set()
    offset = 0
    for piece, part in zip(pieces, parts, strict=True):
        end = offset + len(part)
        cleaned, position = b"", offset
        for start, stop, mark in spans:
            if stop <= offset or start >= end:
                continue
            cleaned += part[position - offset : max(start, offset) - offset]
            cleaned += mark if start >= offset else b""
            position = min(stop, end)
            changed.add(piece.line)
        cleaned += part[position - offset :]
        piece.holder[piece.key] = cleaned.decode("utf-8", "replace")
        offset = end
    return changed
