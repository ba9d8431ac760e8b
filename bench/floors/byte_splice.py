"""A proxy that only copies bytes both ways and keeps them in a file: UPSTREAM_PORT LOG."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import BinaryIO


class Side(asyncio.Protocol):
    """One end of a splice: what it receives goes to the other end and into the log."""

    def __init__(self, log: BinaryIO, upstream_port: int | None) -> None:
        self._log = log
        self._upstream_port = upstream_port
        self._early = b""
        self.other: Side | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Connect the other end, if this one is a client's."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        if self._upstream_port is not None:
            self._connecting = asyncio.ensure_future(self._connect(self._upstream_port))

    async def _connect(self, port: int) -> None:
        loop = asyncio.get_running_loop()
        _, other = await loop.create_connection(lambda: Side(self._log, None), "127.0.0.1", port)
        other.other, self.other = self, other
        other.transport.write(self._early)

    def data_received(self, data: bytes) -> None:
        """Copy."""
        if self.other is None:
            self._early += data
        else:
            self.other.transport.write(data)
        self._log.write(data)

    def connection_lost(self, error: Exception | None) -> None:
        """End the other end too."""
        del error
        if self.other is not None:
            self.other.transport.close()


async def main(upstream_port: int, log: Path) -> None:
    """Print the port and copy until the end of this process."""
    loop = asyncio.get_running_loop()
    with log.open("wb") as file:
        server = await loop.create_server(lambda: Side(file, upstream_port), "127.0.0.1", 0)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), Path(sys.argv[2])))
