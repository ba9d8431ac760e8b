"""`/bin/true` started with posix_spawn and waited for, one after the other. Argument: how often."""

from __future__ import annotations

import os
import sys
import time


def main(count: int) -> None:
    taken = []
    for _ in range(count):
        start = time.perf_counter()
        pid = os.posix_spawn("/bin/true", ["/bin/true"], os.environ)
        _, status, usage = os.wait4(pid, 0)
        taken.append((time.perf_counter() - start, usage.ru_utime + usage.ru_stime, status))
    assert all(status == 0 for _, _, status in taken)


if __name__ == "__main__":
    main(int(sys.argv[1]))
