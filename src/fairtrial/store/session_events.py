"""Events of sessions as bytes: packed by run, and compressed."""

from __future__ import annotations

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
_BRIEF: Final = 1_000


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
    if isinstance(event, Result):
        changes = tuple(replace(change, before=None) for change in event.changes)
        return replace(event, text=event.text[:_BRIEF], changes=changes, read=None)
    if isinstance(event, Call):
        return replace(event, input=None) if event.command is not None else event
    if isinstance(event, Thought | Compaction):
        text = "text" if isinstance(event, Thought) else "summary"
        return replace(event, **{text: getattr(event, text)[:_BRIEF]})
    return event
