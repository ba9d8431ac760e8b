"""A client that moves bytes on kept connections. Arguments: port, requests, connections."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Iterator

LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)


async def connection(port: int, numbers: Iterator[int]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for n in numbers:
        body = json.dumps({"q": f"twice {n}", "n": n}).encode()
        writer.write(
            b"POST /answer HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
        )
        length = LENGTH.search(await reader.readuntil(b"\r\n\r\n"))
        assert length is not None
        json.loads(await reader.readexactly(int(length[1])))
    writer.close()


async def main(port: int, count: int, connections: int) -> None:
    numbers = iter(range(count))
    await asyncio.gather(*(connection(port, numbers) for _ in range(connections)))


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:])))
