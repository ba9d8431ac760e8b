"""A web service that answers every request with the same JSON after a while."""

from __future__ import annotations

import asyncio
import re
import sys

BODY = b'{"answer":"42"}'
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
    len(BODY),
    BODY,
)
LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)


class Connection(asyncio.Protocol):
    """One kept connection; no request follows another before its answer."""

    def __init__(self, answer_s: float) -> None:
        self._answer_s = answer_s
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer once a request is whole."""
        self._received += data
        head, end, body = self._received.partition(b"\r\n\r\n")
        length = LENGTH.search(head)
        if end and len(body) >= (int(length[1]) if length else 0):
            self._received = b""
            loop = asyncio.get_running_loop()
            loop.call_later(self._answer_s, self._transport.write, ANSWER)


async def main(answer_s: float) -> None:
    """Print the port and serve until the end of this process."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(answer_s), "127.0.0.1", 0, backlog=256)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1])))
