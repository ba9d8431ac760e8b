"""Running an application on a socket that listens already."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from fairtrial.engine.control import Control

_GRACE_S = 10
"""How long requests under way are waited for."""


class _Server(uvicorn.Server):
    """A server that leaves signals to the command line, and tells when it listens."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._tell = started

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take no signals: `control` is how it is stopped."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, and say so."""
        await super().startup(sockets)
        if self.started:
            self._tell()


def run(
    app: ASGIApp, listening: socket.socket, control: Control, started: Callable[[], None]
) -> None:
    """Serve until the control drains; requests under way are finished unless it cancels.

    Args:
        app: What answers.
        listening: The socket, bound and listening.
        control: How it is asked to stop.
        started: Called once requests are answered.
    """
    config = uvicorn.Config(
        app,
        lifespan="off",
        log_config=None,
        log_level="critical",  # what went wrong is told as an answer and kept in a log of ours
        access_log=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=_GRACE_S,
    )
    server = _Server(config, started)

    def asked() -> None:
        server.should_exit = server.should_exit or control.drain_reason is not None
        server.force_exit = server.force_exit or control.cancelled

    control.listen(asked)
    try:
        asked()
        asyncio.run(server.serve([listening]))
    finally:
        control.unlisten(asked)
