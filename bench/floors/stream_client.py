"""Clients of a model API that only write and read bytes: PORT STREAMS AT_ONCE.

Prints how long the first byte of a stream took (median, seconds) and how many streams a second.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time

BODY = json.dumps(
    {
        "model": "claude-sonnet-5-5",
        "max_tokens": 1024,
        "stream": True,
        "system": "You are a careful assistant. " * 20,
        "messages": [{"role": "user", "content": "Say a few words. " * 40}],
    }
).encode()
HEAD = (
    "POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUser-Agent: bench\r\n"
    "Accept: application/json\r\nContent-Type: application/json\r\nX-Api-Key: sk-ant-%s\r\n"
    "anthropic-version: 2023-06-01\r\nContent-Length: %d\r\n\r\n"
)
LAST = b"0\r\n\r\n"


async def client(port: int, due: list[int], firsts: list[float]) -> None:
    """Ask for streams on one kept connection until none is due."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    request = (HEAD % (port, "0" * 80, len(BODY))).encode() + BODY
    while due:
        due.pop()
        start = time.perf_counter()
        writer.write(request)
        data = await reader.read(65536)
        firsts.append(time.perf_counter() - start)
        while not data.endswith(LAST):
            data = data[-8:] + await reader.read(65536)
    writer.close()


async def main(port: int, streams: int, at_once: int) -> None:
    """Run so many clients and print what they saw."""
    firsts: list[float] = []
    due = [0] * streams
    start = time.perf_counter()
    await asyncio.gather(*(client(port, due, firsts) for _ in range(at_once)))
    wall = time.perf_counter() - start
    print(json.dumps({"first_byte_s": statistics.median(firsts), "per_s": streams / wall}))


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:4])))
