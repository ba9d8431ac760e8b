"""Events of sessions as bytes: packed by run, compressed, and put together again."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from fairtrial.model.errors import StoreError
from fairtrial.model.session import (
    ApiTrouble,
    Call,
    Compaction,
    Prompt,
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
)
_PLACES: Final = {kind: place for place, kind in enumerate(_KINDS)}
_ZSTD_LEVEL: Final = 3
_BRIEF: Final = 1_000
_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)


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
        return replace(event, text=event.text[:_BRIEF], changes=changes)
    if isinstance(event, Call):
        return replace(event, input=None) if event.command is not None else event
    if isinstance(event, Thought | Compaction):
        text = "text" if isinstance(event, Thought) else "summary"
        return replace(event, **{text: getattr(event, text)[:_BRIEF]})
    return event


def in_order(files: Sequence[Iterable[SessionEvent]]) -> list[SessionEvent]:
    """Return the events of a session's files in one order, numbered from 1.

    The order within a file stays, whatever its times say; files are merged by the times so far. A
    model call whose tokens were told several times is there once, with the last ones.
    """
    if len(files) == 1:
        return _numbered(files[0])
    timed = [_timed(place, events) for place, events in enumerate(files)]
    return _numbered(event for _, _, event in heapq.merge(*timed, key=lambda found: found[:2]))


def _timed(
    place: int, events: Iterable[SessionEvent]
) -> Iterator[tuple[datetime, int, SessionEvent]]:
    latest = _LONG_AGO
    for event in events:
        if event.at is not None and event.at > latest:
            latest = event.at
        yield latest, place, event


def _numbered(events: Iterable[SessionEvent]) -> list[SessionEvent]:
    found: list[SessionEvent] = []
    usages: dict[str, int] = {}
    for event in events:
        if isinstance(event, Usage):
            place = usages.setdefault(event.message_id, len(found))
            if place < len(found):
                found[place] = replace(event, number=place + 1)
                continue
        # The events were just made and nobody else has them; a copy of each would take longer
        # than all the rest.
        object.__setattr__(event, "number", len(found) + 1)
        found.append(event)
    return found
