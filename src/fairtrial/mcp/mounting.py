"""The server as an ASGI application, for streamable HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from starlette.types import Receive, Scope, Send

from fairtrial.app.bench import Bench

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from fairtrial.mcp.server import Around


class Mounted:
    """Answers at one address. The protocol's library is loaded by the first request.

    Who may ask is decided before: a `Guard` stands in front.
    """

    def __init__(self, bench: Bench, around: Callable[[], Around]) -> None:
        self._bench = bench
        self._around = around
        self._started: asyncio.Future[StreamableHTTPSessionManager] | None = None
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if self._started is None:
            self._started = asyncio.get_running_loop().create_future()
            self._running = asyncio.create_task(self._run(self._started))
        manager = await asyncio.shield(self._started)
        await manager.handle_request(scope, receive, send)

    async def _run(self, started: asyncio.Future[StreamableHTTPSessionManager]) -> None:
        """Keep sessions until the server is asked to stop."""
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()

        def asked() -> None:
            if self._bench.control.drain_reason is not None and not loop.is_closed():
                loop.call_soon_threadsafe(ended.set)

        try:
            manager = await asyncio.to_thread(self._manager)
        except BaseException as error:
            started.set_exception(error)
            raise
        self._bench.control.listen(asked)
        try:
            async with manager.run():
                started.set_result(manager)
                asked()
                await ended.wait()
        finally:
            self._bench.control.unlisten(asked)

    def _manager(self) -> StreamableHTTPSessionManager:
        # 0.9 s that a server which no agent calls does without.
        from mcp.server.streamable_http_manager import (  # noqa: PLC0415
            StreamableHTTPSessionManager,
        )

        from fairtrial.mcp.server import create_server  # noqa: PLC0415

        return StreamableHTTPSessionManager(create_server(self._bench, self._around()))
