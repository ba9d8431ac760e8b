"""One look at the store for all that watch it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Final

from fairtrial.app.bench import Bench
from fairtrial.app.changes import Changes
from fairtrial.model.errors import StoreError

_LOOK_S: Final = 0.5
_BEAT_S: Final = 15.0
_MOST_WAITING: Final = 1_000
_READY: Final = b": ready\n\n"
_BEAT: Final = b": still here\n\n"

_Queue = asyncio.Queue[bytes | None]


class Broadcaster:
    """Looks at the store while somebody watches, and tells each of them what changed."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._queues: set[_Queue] = set()
        self._looking: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()

    async def stream(self) -> AsyncIterator[bytes]:
        """Yield server-sent events until the watcher leaves or the server is stopped."""
        loop = asyncio.get_running_loop()
        queue: _Queue = asyncio.Queue(_MOST_WAITING)

        def asked() -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(_end, queue)

        self._bench.control.listen(asked)
        self._queues.add(queue)
        try:
            if self._looking is None:
                self._ready.clear()
                self._looking = asyncio.create_task(self._look())
            await self._ready.wait()
            yield _READY
            while self._bench.control.drain_reason is None:
                try:
                    told = await asyncio.wait_for(queue.get(), _BEAT_S)
                except TimeoutError:
                    told = _BEAT
                if told is None:
                    return
                yield told
        finally:
            self._bench.control.unlisten(asked)
            self._queues.discard(queue)
            if not self._queues and self._looking is not None:
                self._looking.cancel()
                self._looking = None

    async def _look(self) -> None:
        changes = await asyncio.to_thread(Changes, self._bench)
        try:
            while True:
                try:
                    for change in await asyncio.to_thread(changes.look):
                        data = json.dumps(change.facts, ensure_ascii=False, allow_nan=False)
                        self._tell(f"event: {change.kind}\ndata: {data}\n\n".encode())
                except StoreError:
                    pass  # busy or in the way of something; the next look finds the same
                self._ready.set()
                await asyncio.sleep(_LOOK_S)
        finally:
            changes.close()

    def _tell(self, told: bytes) -> None:
        for queue in tuple(self._queues):
            try:
                queue.put_nowait(told)
            except asyncio.QueueFull:
                self._queues.discard(queue)
                _end(queue)


def _end(queue: _Queue) -> None:
    """Let a watcher go: what it has not read is read from the lists."""
    while not queue.empty():
        queue.get_nowait()
    queue.put_nowait(None)
