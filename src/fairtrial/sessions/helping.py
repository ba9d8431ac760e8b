"""What a process that reads transcripts for another one is told, and what it answers.

Frames of msgpack go over its standard input and output, each after its length.
"""

from __future__ import annotations

import queue
import signal
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import IO, Final, TypeAlias

import msgspec

from fairtrial.analysis.session_events import in_order
from fairtrial.model.flag import Flag
from fairtrial.model.session import Session, SessionEvent
from fairtrial.ports.sessions import FileMark, FileReading, FlagRule, SessionReader
from fairtrial.ports.transcript_files import FoundFile
from fairtrial.sessions.flagging import flags_of
from fairtrial.sessions.reading import Ways, read_file

_LENGTH: Final = struct.Struct("<Q")
_HELD_AT_ONCE: Final = 32 * 1024 * 1024
"""Bytes of events that are held for the rules."""
_STOP_PLACE, _LOOK_PLACE, _READ_PLACE = 0, 1, 2


class Setup(msgspec.Struct):
    """What the process is told first.

    Attributes:
        path: Where modules are looked for: the rules of a user must be found as in the other one.
        home: Folder of the store.
        muted: Names of rules that do not look.
    """

    path: list[str]
    home: str
    muted: list[str]


class Read(msgspec.Struct, tag="read"):
    """Read a file, from its start or from where it was left; hold its events if they are few."""

    key: int
    agent: str
    found: FoundFile
    before: tuple[FileMark, bytes] | None


class Look(msgspec.Struct, tag="look"):
    """Let the rules look at a session, all of whose events are held."""

    key: int
    session: Session
    now: datetime


class Drop(msgspec.Struct, tag="drop"):
    """Hold the events of a file no longer."""

    key: int


class Brought(msgspec.Struct, tag="brought"):
    """What a file brought, its model calls not priced; and whether its events are held."""

    key: int
    reading: FileReading
    held: bool


class Flagged(msgspec.Struct, tag="flagged"):
    """What the rules found, and in words which of them failed."""

    key: int
    flags: list[Flag]
    troubles: list[str]


class Unable(msgspec.Struct, tag="unable"):
    """What was asked for could not be done here."""

    key: int


Order: TypeAlias = Read | Look | Drop
Answer: TypeAlias = Brought | Flagged | Unable
_Queued: TypeAlias = tuple[int, int, Order | None]


def frame(content: msgspec.Struct) -> bytes:
    """Return a message as it goes over a pipe.

    Raises:
        ValueError, OverflowError, TypeError: something in it has no form there.
    """
    data = msgspec.msgpack.encode(content)
    return _LENGTH.pack(len(data)) + data


def frames(pipe: IO[bytes]) -> Iterator[bytes]:
    """Yield messages until the other side ends, or dies within one."""
    while len(head := pipe.read(_LENGTH.size)) == _LENGTH.size:
        size = _LENGTH.unpack(head)[0]
        data = pipe.read(size)
        if len(data) < size:
            return
        yield data


@dataclass
class Helper:
    """Reads files and lets rules look, one order after the other.

    Attributes:
        readers: The readers of agents.
        ways: What reading needs.
        rules: What looks at sessions.
    """

    readers: Callable[[str], SessionReader]
    ways: Ways
    rules: Sequence[FlagRule]
    _held: dict[int, tuple[Sequence[SessionEvent], int]] = field(default_factory=dict)
    _size: int = 0

    def done(self, order: Order) -> bytes | None:
        """Do what is ordered; return the answer as a frame, if there is to be one."""
        if isinstance(order, Drop):
            self._take(order.key)
            return None
        try:
            return frame(self._read(order) if isinstance(order, Read) else self._look(order))
        except Exception:  # noqa: BLE001  # the other side does it then, and tells what is wrong
            self._take(order.key)
            return frame(Unable(order.key))

    def _read(self, order: Read) -> Brought:
        reader = self.readers(order.agent)
        source = reader.source(order.found.path)
        reading, events = read_file(reader, source, order.found, self.ways, order.before)
        size = sum(chunk.size for chunk in reading.chunks)
        held = reading.anew and events is not None and self._size + size <= _HELD_AT_ONCE
        if held and events is not None:
            self._held[order.key] = events, size
            self._size += size
        return Brought(order.key, reading, held)

    def _look(self, order: Look) -> Flagged:
        events = in_order([self._take(order.key)])
        return Flagged(order.key, *flags_of(self.rules, order.session, events, order.now))

    def _take(self, key: int) -> Sequence[SessionEvent]:
        events, size = self._held.pop(key, ((), 0))
        self._size -= size
        return events


def serve(make: Callable[[Setup], Helper], source: IO[bytes], sink: IO[bytes]) -> None:
    """Be such a process until nothing more can come.

    What a session is to be looked at for goes before what is to be read: the other side waits.

    Args:
        make: Makes what does the work.
        source: Where orders come from.
        sink: Where answers go.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the other side ends this one
    told = frames(source)
    first = next(told, None)
    if first is None:
        return
    waiting: queue.PriorityQueue[_Queued] = queue.PriorityQueue()
    listening = threading.Thread(target=_listen, args=(told, waiting), daemon=True)
    listening.start()
    helper = make(msgspec.msgpack.decode(first, type=Setup))
    while (order := waiting.get()[2]) is not None:
        answer = helper.done(order)
        if answer is not None:
            try:
                sink.write(answer)
                sink.flush()
            except OSError:
                return  # nobody listens any more


def _listen(told: Iterator[bytes], waiting: queue.PriorityQueue[_Queued]) -> None:
    orders = msgspec.msgpack.Decoder(Order)
    for number, data in enumerate(told):
        order: Order = orders.decode(data)
        place = _READ_PLACE if isinstance(order, Read) else _LOOK_PLACE
        waiting.put((place, number, order))
    waiting.put((_STOP_PLACE, -1, None))
