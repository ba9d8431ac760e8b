"""Programs started with posix_spawn, read with selectors. Arguments: how many, how many at once."""

from __future__ import annotations

import os
import selectors
import sys


class Program:
    """One `/bin/cat` that is given a line."""

    def __init__(self, selector: selectors.BaseSelector, line: bytes) -> None:
        stdin, feed = os.pipe()
        output, stdout = os.pipe()
        files = [(os.POSIX_SPAWN_DUP2, stdin, 0), (os.POSIX_SPAWN_DUP2, stdout, 1)]
        self.pid = os.posix_spawn("/bin/cat", ["/bin/cat"], os.environ, file_actions=files)
        os.close(stdin)
        os.close(stdout)
        os.write(feed, line)
        os.close(feed)
        self.output = b""
        self.fd = output
        selector.register(output, selectors.EVENT_READ, self)

    def read(self) -> bool:
        """Read once; return whether it has ended."""
        data = os.read(self.fd, 65536)
        self.output += data
        if data:
            return False
        os.close(self.fd)
        _, status, _ = os.wait4(self.pid, 0)
        return status == 0


def main(count: int, at_once: int) -> None:
    selector = selectors.DefaultSelector()
    started = ended = 0
    while ended < count:
        while started < count and started - ended < at_once:
            Program(selector, b'{"q": "twice %d", "n": %d}\n' % (started, started))
            started += 1
        for key, _ in selector.select():
            program = key.data
            if program.read():
                selector.unregister(key.fd)
                ended += 1


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
