"""Serves one client over standard input and output."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator
from typing import Any, Final, cast

import anyio
from mcp.server.stdio import stdio_server

from fairtrial.app.bench import Bench
from fairtrial.mcp.server import Around, create_server

_LONGEST_LINE: Final = 16 * 1024 * 1024


def serve_stdio(bench: Bench, around: Around) -> None:
    """Answer the client until it leaves or the bench's control asks to stop.

    While it serves, what programs and graders print goes to standard error.
    """
    asyncio.run(_serve(bench, around))


async def _serve(bench: Bench, around: Around) -> None:
    server = create_server(bench, around)
    loop = asyncio.get_running_loop()
    lines = _Lines(_taken(0), loop)
    with anyio.CancelScope() as scope:

        def asked() -> None:
            if bench.control.drain_reason is not None and not loop.is_closed():
                loop.call_soon_threadsafe(scope.cancel)

        bench.control.listen(asked)
        try:
            asked()
            async with stdio_server(stdin=cast("Any", lines)) as (reading, writing):
                await server.run(reading, writing, server.create_initialization_options())
        finally:
            bench.control.unlisten(asked)


def _taken(number: int) -> int:
    """Return a descriptor of our own for one that programs under test must not read."""
    ours = os.dup(number)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, number)
    os.close(nothing)
    return ours


class _Lines:
    """Lines of a file, read by a thread that nothing has to wait for when the server is stopped."""

    def __init__(self, descriptor: int, loop: asyncio.AbstractEventLoop) -> None:
        self._descriptor = descriptor
        self._loop = loop
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()
        threading.Thread(target=self._read, daemon=True, name="stdin").start()

    def _read(self) -> None:
        with os.fdopen(self._descriptor, "rb") as file:
            try:
                while line := file.readline(_LONGEST_LINE):
                    self._hand_over(line.decode(errors="replace"))
                self._hand_over(None)
            except OSError as error:
                sys.stderr.write(f"standard input cannot be read: {error}\n")
                self._hand_over(None)
            except RuntimeError:
                pass  # the loop is closed: nobody waits for lines any more

    def _hand_over(self, line: str | None) -> None:
        self._loop.call_soon_threadsafe(self._queue.put_nowait, line)

    async def __aiter__(self) -> AsyncIterator[str]:
        while (line := await self._queue.get()) is not None:
            yield line
