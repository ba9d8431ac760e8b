"""One look at the store for all that watch it."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections import deque
from collections.abc import AsyncIterator
from typing import Final

from fairtrial.app.bench import Bench
from fairtrial.app.changes import Change, Changes
from fairtrial.http.problems import defect_of
from fairtrial.model.errors import StoreError

_LOOK_S: Final = 0.5
_BEAT_S: Final = 15.0
_MOST_WAITING: Final = 1_000
_MOST_KEPT: Final = 1_000
"""Told events that one who comes back can still be told."""
_LINGER_S: Final = 300.0
"""How long it looks on when nobody watches: whoever comes back meanwhile has missed nothing."""
_READY: Final = b": ready\n\n"
_BEAT: Final = b": still here\n\n"
_MISSED: Final = b"event: missed\ndata: {}\n\n"

_Queue = asyncio.Queue[bytes | None]


class Broadcaster:
    """Looks at the store while somebody watches, and tells each of them what changed."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._queues: set[_Queue] = set()
        self._looking: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()
        self._run = secrets.token_hex(4)  # numbers of another server's run mean nothing here
        self._told: deque[tuple[int, bytes]] = deque(maxlen=_MOST_KEPT)
        self._number = 0
        self._resting: asyncio.TimerHandle | None = None

    async def stream(self, last: str | None = None) -> AsyncIterator[bytes]:
        """Yield server-sent events until the watcher leaves or the server is stopped.

        Args:
            last: The id of the last event that the watcher was told; None at first.
        """
        loop = asyncio.get_running_loop()
        queue: _Queue = asyncio.Queue(_MOST_WAITING)

        def asked() -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(_end, queue)

        self._bench.control.listen(asked)
        self._queues.add(queue)
        missed = self._since(last)
        try:
            if not await self._sees():
                return  # whoever comes back is told why
            yield _READY
            for one in missed:
                yield one
            while self._bench.control.drain_reason is None:
                told = await _next(queue)
                if told is None:
                    return
                yield told
        finally:
            self._bench.control.unlisten(asked)
            self._queues.discard(queue)
            if not self._queues and self._looking is not None and self._resting is None:
                self._resting = loop.call_later(_LINGER_S, self._rest)

    async def _sees(self) -> bool:
        """Begin to look, unless it looks already; return whether the store can be seen."""
        if self._resting is not None:
            self._resting.cancel()
            self._resting = None
        if self._looking is None:
            self._ready.clear()
            self._looking = asyncio.create_task(self._look())
        await self._ready.wait()
        return self._looking is not None

    def _rest(self) -> None:
        """Look no more."""
        self._resting = None
        if self._looking is not None and not self._queues:
            self._looking.cancel()
            self._looking = None
            self._run = secrets.token_hex(4)  # what happens from now on is not seen
            self._told.clear()

    def _since(self, last: str | None) -> list[bytes]:
        """Return what was told after an event; that some is not known any more, if it is not."""
        if last is None:
            return []
        run, _, number = last.partition("-")
        if run == self._run and number.isascii() and number.isdecimal() and len(number) < 18:
            oldest = self._told[0][0] if self._told else self._number + 1
            if oldest - 1 <= int(number) <= self._number:
                return [told for at, told in self._told if at > int(number)]
        return [_MISSED]

    async def _look(self) -> None:
        try:
            changes = await asyncio.to_thread(Changes, self._bench)
            try:
                while True:
                    for change in await asyncio.to_thread(changes.look):
                        self._change(change)
                    self._ready.set()
                    await asyncio.sleep(_LOOK_S)
            finally:
                changes.close()
        except Exception as error:  # noqa: BLE001  # whoever watches must not wait for ever
            if not isinstance(error, StoreError):
                defect_of(self._bench, error)
            self._give_up()

    def _give_up(self) -> None:
        """Let all watchers go: they come back, and are told why nothing can be seen."""
        self._looking = None
        self._run = secrets.token_hex(4)  # what happens meanwhile is not seen
        self._told.clear()
        self._ready.set()
        for queue in tuple(self._queues):
            _end(queue)

    def _change(self, change: Change) -> None:
        data = json.dumps(change.facts, ensure_ascii=False, allow_nan=False)
        self._number += 1
        named = f"id: {self._run}-{self._number}\nevent: {change.kind}\n"
        told = f"{named}data: {data}\n\n".encode("utf-8", "replace")
        self._told.append((self._number, told))
        self._tell(told)

    def _tell(self, told: bytes) -> None:
        for queue in tuple(self._queues):
            try:
                queue.put_nowait(told)
            except asyncio.QueueFull:
                self._queues.discard(queue)
                _end(queue)


async def _next(queue: _Queue) -> bytes | None:
    try:
        return await asyncio.wait_for(queue.get(), _BEAT_S)
    except TimeoutError:
        return _BEAT


def _end(queue: _Queue) -> None:
    """Let a watcher go: what it has not read is read from the lists."""
    while not queue.empty():
        queue.get_nowait()
    queue.put_nowait(None)
