"""How long a server takes to the first byte of a page, beside an answer that reads nothing."""

from __future__ import annotations

import http.client
import os
import re
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.measuring import Command

_PATIENCE_S = 60


@dataclass(frozen=True, slots=True)
class Served:
    """A server: its address, and its process."""

    address: str
    pid: int

    def cpu_s(self) -> float:
        """Return the CPU time of all its threads; 0 where the system does not tell."""
        times = Path(f"/proc/{self.pid}/task").glob("*/schedstat")
        return sum(int(one.read_text().split()[0]) for one in times) / 1e9


@contextmanager
def serving(command: Command) -> Iterator[Served]:
    """Yield a server that runs meanwhile."""
    with subprocess.Popen(
        command.argv,
        cwd=command.cwd,
        env={**os.environ, **command.env},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            said = process.stdout.readline()
            found = re.search(r"http://([\d.]+:\d+)", said)
            assert found is not None, said
            yield Served(found[1], process.pid)
        finally:
            process.terminate()


@dataclass(frozen=True, slots=True)
class Look:
    """What came of asking for a page.

    Attributes:
        first_s: Seconds to the first byte when it was asked for the first time.
        seconds: The median of the times after that.
        cpu_s: The median of the CPU time that the server took for each.
        size: Bytes of the answer.
    """

    first_s: float
    seconds: float
    cpu_s: float
    size: int


def first_bytes(server: Served, rounds: int, **paths: str) -> Mapping[str, Look]:
    """Return how long each path takes to its first byte, all measured in turns."""
    taken: dict[str, list[tuple[float, float, int]]] = {name: [] for name in paths}
    for _ in range(rounds + 1):
        for name, path in paths.items():
            before = server.cpu_s()
            seconds, size = _one(server.address, path)
            taken[name].append((seconds, server.cpu_s() - before, size))
    return {
        name: Look(
            looks[0][0],
            median(seconds for seconds, _, _ in looks[1:]),
            median(cpu_s for _, cpu_s, _ in looks[1:]),
            looks[-1][2],
        )
        for name, looks in taken.items()
    }


def _one(address: str, path: str) -> tuple[float, int]:
    with closing(http.client.HTTPConnection(address, timeout=_PATIENCE_S)) as connection:
        start = time.perf_counter()
        connection.request("GET", path, headers={"accept": "text/html"})
        answer = connection.getresponse()
        seconds = time.perf_counter() - start
        body = answer.read()
        assert answer.status == 200, body
        return seconds, len(body)
