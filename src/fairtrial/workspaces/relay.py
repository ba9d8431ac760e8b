"""Carries the connections of a trial's one port to that port of this machine."""

from __future__ import annotations

import array
import asyncio
import contextlib
import os
import socket
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

_CHUNK = 64 * 1024
_SOCKET = "control"


class Relay:
    """Takes listening sockets that were opened inside, and serves them from outside.

    A socket that listens in another network namespace accepts the connections of that namespace,
    whoever holds it. So nothing of ours runs inside, and there is no other way out.

    Args:
        place: The workspace's own folder; the socket is made in it.
        port: The port of 127.0.0.1 that connections go to.
    """

    def __init__(self, place: Path, port: int) -> None:
        self._place = place
        self._port = port
        self._control: socket.socket | None = None
        self._servers: dict[int, asyncio.Server] = {}
        self._starting: set[asyncio.Task[None]] = set()
        self._connections: set[asyncio.Task[None]] = set()

    def open(self) -> None:
        """Wait for listening sockets.

        Raises:
            OSError: the socket could not be made.
        """
        control = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        folder = os.open(self._place, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:  # a socket's path may have 107 bytes; the folder's may be longer
            control.bind(f"/proc/self/fd/{folder}/{_SOCKET}")
        finally:
            os.close(folder)
        control.listen(64)
        control.settimeout(0)
        self._control = control
        asyncio.get_running_loop().add_reader(control, self._receive)

    async def forget(self, run: int) -> None:
        """End what belongs to a run that has ended."""
        server = self._servers.pop(run, None)
        if server is not None:
            server.close()

    async def close(self) -> None:
        """End everything."""
        if self._control is not None:
            asyncio.get_running_loop().remove_reader(self._control)
            self._control.close()
            self._control = None
        for run in list(self._servers):
            await self.forget(run)
        tasks = self._starting | self._connections
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _receive(self) -> None:
        if self._control is None:
            return
        with contextlib.suppress(OSError):
            connection, _ = self._control.accept()
            with connection:
                connection.settimeout(5.0)  # our own program, which sends at once
                size = array.array("i").itemsize
                said, rights, _, _ = connection.recvmsg(64, socket.CMSG_SPACE(size))
                fds = array.array("i")
                for level, kind, data in rights:
                    if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                        fds.frombytes(data[: len(data) - len(data) % size])
                if fds and said.isdigit():
                    listener = socket.socket(fileno=fds[0])
                    listener.settimeout(0)
                    _keep(self._starting, self._serve(int(said), listener))

    async def _serve(self, run: int, listener: socket.socket) -> None:
        self._servers[run] = await asyncio.start_server(self._accepted, sock=listener)

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _keep(self._connections, self._carry(reader, writer))

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._port)
        except OSError:
            writer.transport.abort()  # refused here, so refused there
            return
        ways = [
            asyncio.ensure_future(_pass_on(reader, far_writer)),
            asyncio.ensure_future(_pass_on(far_reader, writer)),
        ]
        try:
            await asyncio.wait(ways)
        except asyncio.CancelledError:
            for way in ways:
                way.cancel()
            far_writer.transport.abort()
            writer.transport.abort()
            raise
        far_writer.close()  # what was written still goes out
        writer.close()


def _keep(kept: set[asyncio.Task[None]], work: Coroutine[Any, Any, None]) -> None:
    task = asyncio.get_running_loop().create_task(work)
    kept.add(task)
    task.add_done_callback(kept.discard)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
            await writer.drain()
    except OSError:
        writer.transport.abort()
