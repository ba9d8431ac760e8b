"""A call log in a process of its own: describing calls takes no time from the streams.

In one process the thread that describes calls and the one that passes bytes on would take the
interpreter's lock from each other at every read and write. Frames go over pipes: an exchange when
its request is whole and when it is over, and back each call that is stored. When the proxy dies,
the log still stores what it was given.
"""

from __future__ import annotations

import queue
import signal
import struct
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import IO, TypeAlias

import msgspec

from fairtrial.model.errors import StoreError
from fairtrial.model.recorded_call import CallOwner, RecordedCall
from fairtrial.recording.call_log import CallLog, ignore_call
from fairtrial.recording.describing import Describer
from fairtrial.recording.exchange import DescribedRequest, Exchange, Payload

_LENGTH = struct.Struct("<Q")


class _Put(msgspec.Struct, tag="put"):
    key: int
    exchange: Exchange


class _Own(msgspec.Struct, tag="own"):
    token: str
    owner: CallOwner | None
    session: str | None = None


class _Flush(msgspec.Struct, tag="flush"):
    pass


class _Stored(msgspec.Struct, tag="stored"):
    call: RecordedCall


class _Flushed(msgspec.Struct, tag="flushed"):
    lost: int
    failure: str | None


_Order: TypeAlias = _Put | _Own | _Flush
_Answer: TypeAlias = _Stored | _Flushed


class ProcessLog:
    """The proxy's end: takes exchanges as a `CallLog` does."""

    def __init__(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        describer: Describer,
        recorded: Callable[[RecordedCall], None] = ignore_call,
    ) -> None:
        """Start the process.

        Args:
            argv: The program, which calls `serve_log`.
            env: Its environment.
            describer: Describes requests that somebody asks about at once.
            recorded: Takes each call once it is stored, on a thread.
        """
        self._describer = describer
        self._recorded = recorded
        self._numbers = 0
        self._keys: dict[int, int] = {}
        self._owners: dict[str, CallOwner] = {}
        self._calls: dict[CallOwner, list[RecordedCall]] = {}
        self._lock = threading.Lock()
        self._flushed: queue.SimpleQueue[_Flushed] = queue.SimpleQueue()
        self._orders: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._flushing = threading.Lock()
        self._lost = 0
        self._given = 0
        self._stored = 0
        self._ended: str | None = None
        self._process = subprocess.Popen(  # noqa: S603  # a program of ours
            argv,
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is not for it
        )
        self._threads = [
            threading.Thread(target=work, name="log-process", daemon=True)
            for work in (self._write, self._read)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def lost(self) -> int:
        """How many calls could not be stored."""
        return self._lost if self._ended is None else max(0, self._given - self._stored)

    def put(self, exchange: Exchange) -> None:
        """Take an exchange; returns at once."""
        if exchange.recorded:
            return
        key = self._keys.get(id(exchange))
        if key is None:
            self._numbers += 1
            key = self._keys[id(exchange)] = self._numbers
            sent = exchange
        else:  # the process has its request
            sent = replace(exchange, request=Payload([], exchange.request.size))
        if exchange.ended is None:
            self._order(_Put(key, sent))
            exchange.request.chunks = []
            return
        self._order(_Put(key, sent))
        self._given += 1
        exchange.recorded = True
        del self._keys[id(exchange)]

    def describe(self, exchange: Exchange) -> DescribedRequest:
        """Describe a request now, on the thread of the caller."""
        return self._describer.request(exchange)

    def flush(self) -> None:
        """Wait until everything that was put is stored.

        Raises:
            StoreError: something could not be stored since the last flush.
        """
        with self._flushing:
            if self._ended is not None:
                raise StoreError(self._ended)
            self._order(_Flush())
            flushed = self._flushed.get()
        self._lost = max(self._lost, flushed.lost)
        if flushed.failure is not None:
            raise StoreError(flushed.failure)

    def close(self) -> None:
        """Store everything that was put and end the process."""
        self._orders.put(None)
        for thread in self._threads:
            thread.join()
        self._process.wait()

    def own(self, token: str, owner: CallOwner, session: str | None = None) -> None:
        """Let the calls that come with a token belong to a trial; as `CallLog.own`."""
        with self._lock:
            self._owners[token] = owner
            self._calls[owner] = []
        self._order(_Own(token, owner, session))

    def disown(self, token: str) -> Sequence[RecordedCall]:
        """Forget a token; return its calls that are stored, in the order they were made."""
        self._order(_Own(token, None))
        with self._lock:
            owner = self._owners.pop(token, None)
            calls = [] if owner is None else self._calls.pop(owner, [])
        return sorted(calls, key=lambda call: call.number)

    def _order(self, order: _Order) -> None:
        self._orders.put(msgspec.msgpack.encode(order))

    def _write(self) -> None:
        pipe = self._process.stdin
        if pipe is None:
            return
        try:
            while (frame := self._orders.get()) is not None:
                pipe.write(_LENGTH.pack(len(frame)))
                pipe.write(frame)
                if self._orders.empty():
                    pipe.flush()
            pipe.close()
        except OSError:
            with suppress(OSError):  # it died; the other thread sees it too
                pipe.close()

    def _read(self) -> None:
        pipe = self._process.stdout
        if pipe is None:
            return
        answers = msgspec.msgpack.Decoder(_Answer)
        with pipe:
            for frame in _frames(pipe):
                answer = answers.decode(frame)
                if isinstance(answer, _Flushed):
                    self._flushed.put(answer)
                else:
                    self._keep(answer.call)
        status = self._process.wait()
        if self._given > self._stored or status != 0:
            # Whoever waits is not to wait for ever.
            self._ended = f"the process that stores calls ended with {status}"
            self._flushed.put(_Flushed(0, self._ended))

    def _keep(self, call: RecordedCall) -> None:
        self._stored += 1
        if call.owner is not None:
            with self._lock:
                calls = self._calls.get(call.owner)
                if calls is not None:
                    calls.append(call)
        self._recorded(call)


MakeLog: TypeAlias = Callable[[Callable[[RecordedCall], None]], CallLog]


def serve_log(make_log: MakeLog, source: IO[bytes], sink: IO[bytes]) -> None:
    """Be the log's end: describe and store what comes, until nothing more can come.

    Args:
        make_log: Makes the log, given what takes each call that is stored.
        source: Where orders come from.
        sink: Where answers go.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    lock = threading.Lock()

    def answer(content: _Answer) -> None:
        frame = msgspec.msgpack.encode(content)
        with lock:
            try:
                sink.write(_LENGTH.pack(len(frame)) + frame)
                sink.flush()
            except OSError:
                pass  # nobody listens any more; what was given is stored all the same

    log = make_log(lambda call: answer(_Stored(call)))
    under_way: dict[int, Exchange] = {}
    orders = msgspec.msgpack.Decoder(_Order)
    for frame in _frames(source):
        order = orders.decode(frame)
        match order:
            case _Put(key, exchange):
                log.put(_merged(under_way, key, exchange))
            case _Own(token, None):
                log.disown(token)
            case _Own(token, owner, session) if owner is not None:
                log.own(token, owner, session)
            case _Flush():
                answer(_flushed(log))
    log.close()


def _merged(under_way: dict[int, Exchange], key: int, exchange: Exchange) -> Exchange:
    known = under_way.setdefault(key, exchange)
    if exchange.ended is None:
        return known
    del under_way[key]
    if known is not exchange:
        known.status, known.response_headers = exchange.status, exchange.response_headers
        known.response, known.first_byte = exchange.response, exchange.first_byte
        known.problem, known.served = exchange.problem, exchange.served
        known.ended = exchange.ended  # last: from then on the log's thread takes it
    return known


def _flushed(log: CallLog) -> _Flushed:
    try:
        log.flush()
    except StoreError as error:
        return _Flushed(log.lost, str(error))
    return _Flushed(log.lost, None)


def _frames(pipe: IO[bytes]) -> Iterator[bytes]:
    while len(head := pipe.read(_LENGTH.size)) == _LENGTH.size:
        size = _LENGTH.unpack(head)[0]
        frame = pipe.read(size)
        if len(frame) < size:
            return
        yield frame
