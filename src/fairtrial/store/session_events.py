"""Events of sessions as bytes: packed by run, and compressed."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import msgspec

from fairtrial.model.errors import StoreError
from fairtrial.model.session import (
    ApiTrouble,
    Call,
    Compaction,
    FileKept,
    Operation,
    Prompt,
    RepoStatus,
    Result,
    Said,
    SessionEvent,
    Thought,
    TurnEnd,
    Usage,
)
from fairtrial.ports.sessions import PackedEvents

# The place of a kind is written, so new kinds come last.
_KINDS: Final = (
    Prompt,
    Said,
    Thought,
    Call,
    Result,
    ApiTrouble,
    Compaction,
    Usage,
    TurnEnd,
    RepoStatus,
    FileKept,
)
_PLACES: Final = {kind: place for place, kind in enumerate(_KINDS)}
_ZSTD_LEVEL: Final = 3
_EDITS: Final = (Operation.EDIT, Operation.WRITE)
_BRIEF: Final = 600


def pack_events(events: Sequence[SessionEvent]) -> PackedEvents:
    """Return events as they are stored."""
    import zstandard  # noqa: PLC0415  # 30 ms that most commands do not need

    data = msgspec.msgpack.encode([(_PLACES[type(event)], event) for event in events])
    packed = zstandard.ZstdCompressor(_ZSTD_LEVEL, write_checksum=True).compress(data)
    return PackedEvents(packed, len(events), len(data))


class Unpacker:
    """Reads packed events; made once for many."""

    def __init__(self, *, brief: bool = False) -> None:
        import zstandard  # noqa: PLC0415  # as above

        self._unzip = zstandard.ZstdDecompressor().decompress
        self._error = zstandard.ZstdError
        self._outer = msgspec.msgpack.Decoder(list[tuple[int, msgspec.Raw]])
        self._decoders: list[Any] = [msgspec.msgpack.Decoder(kind) for kind in _KINDS]
        self._brief = brief

    def events(self, data: bytes, where: str) -> Iterator[SessionEvent]:
        """Yield the events of a run.

        Raises:
            StoreError: it is damaged.
        """
        try:
            for place, raw in self._outer.decode(self._unzip(data)):
                event: SessionEvent = self._decoders[place].decode(raw)
                yield _cut(event) if self._brief else event
        except (self._error, msgspec.DecodeError, IndexError) as error:
            raise StoreError(
                "the events of a session are damaged",
                where=where,
                why=str(error),
                fix="read them again with `fairtrial sessions sync --anew`",
            ) from error


def _cut(event: SessionEvent) -> SessionEvent:
    """Return an event as small as rules can do with: they do not read thoughts."""
    # Of a text so often told, one is enough. The events were just made and nobody else has them.
    object.__setattr__(event, "thread", sys.intern(event.thread))
    if isinstance(event, Usage) and event.model is not None:
        object.__setattr__(event, "model", sys.intern(event.model))
    if isinstance(event, Result):
        changes = tuple(replace(change, before=None) for change in event.changes)
        return replace(event, text=_ends(event.text), changes=changes, read=None)
    if isinstance(event, Call):
        if event.operation in _EDITS:
            return event  # what it put in place of what is looked at
        shown = None if event.command is not None else _told_apart(event.input)
        return replace(event, input=shown)
    if isinstance(event, Thought):
        return replace(event, text="")
    if isinstance(event, Compaction):
        return replace(event, summary=_ends(event.summary))
    return event


def _ends(text: str) -> str:
    """Return the start of a text and more of its end: what came of a command stands there."""
    if len(text) <= _BRIEF:
        return text
    return f"{text[: _BRIEF // 3]}\n[…]\n{text[-(_BRIEF - _BRIEF // 3) :]}"


def _told_apart(value: Any) -> Any:
    """Return what a tool was given, long texts by start and hash: what was equal stays so."""
    if isinstance(value, str):
        if len(value) <= _BRIEF:
            return value
        digest = hashlib.blake2b(value.encode("utf-8", "replace"), digest_size=16).hexdigest()
        return f"{value[: _BRIEF // 3]} […] {digest}"
    if isinstance(value, list):
        return [_told_apart(part) for part in value]
    if isinstance(value, dict):
        return {name: _told_apart(part) for name, part in value.items()}
    return value
