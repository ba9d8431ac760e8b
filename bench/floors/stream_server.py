"""A model API that streams an answer of a few events at once: what a proxy stands before."""

from __future__ import annotations

import asyncio
import re
import sys

LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n"
)
START = (
    b'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","type":'
    b'"message","role":"assistant","model":"claude-sonnet-5-5","content":[],"stop_reason":null,'
    b'"usage":{"input_tokens":100,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,'
    b'"output_tokens":1}}}\n\n'
)
OPEN = (
    b'event: content_block_start\ndata: {"type":"content_block_start","index":0,'
    b'"content_block":{"type":"text","text":""}}\n\n'
)
PIECE = (
    b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,'
    b'"delta":{"type":"text_delta","text":"a few words of it "}}\n\n'
)
END = (
    b'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n'
    b'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn",'
    b'"stop_sequence":null},"usage":{"output_tokens":50}}\n\n'
    b'event: message_stop\ndata: {"type":"message_stop"}\n\n'
)
PIECES = 8


def chunk(data: bytes) -> bytes:
    """Return data as one chunk of a body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


FIRST = HEAD + chunk(START)
REST = (chunk(OPEN), *[chunk(PIECE)] * PIECES, chunk(END) + b"0\r\n\r\n")


class Connection(asyncio.Protocol):
    """One kept connection; no request follows another before its answer."""

    def __init__(self) -> None:
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer once a request is whole: each event is sent by itself, as a model would."""
        self._received += data
        head, end, body = self._received.partition(b"\r\n\r\n")
        length = LENGTH.search(head)
        if end and len(body) >= (int(length[1]) if length else 0):
            self._received = b""
            self._transport.write(FIRST)
            asyncio.get_running_loop().call_soon(self._go_on, 0)

    def _go_on(self, position: int) -> None:
        if self._transport.is_closing():
            return
        self._transport.write(REST[position])
        if position + 1 < len(REST):
            asyncio.get_running_loop().call_soon(self._go_on, position + 1)


async def main() -> None:
    """Print the port and serve until the end of this process."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Connection, "127.0.0.1", 0, backlog=256)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
