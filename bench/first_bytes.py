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
from statistics import median

from bench.measuring import Command

_PATIENCE_S = 60


@contextmanager
def serving(command: Command) -> Iterator[str]:
    """Yield the address of a server that runs meanwhile."""
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
            yield found[1]
        finally:
            process.terminate()


@dataclass(frozen=True, slots=True)
class Look:
    """What came of asking for a page.

    Attributes:
        first_s: Seconds to the first byte when it was asked for the first time.
        seconds: The median of the times after that.
        size: Bytes of the answer.
    """

    first_s: float
    seconds: float
    size: int


def first_bytes(address: str, rounds: int, **paths: str) -> Mapping[str, Look]:
    """Return how long each path takes to its first byte, all measured in turns."""
    taken: dict[str, list[tuple[float, int]]] = {name: [] for name in paths}
    for _ in range(rounds + 1):
        for name, path in paths.items():
            taken[name].append(_one(address, path))
    return {
        name: Look(looks[0][0], median(seconds for seconds, _ in looks[1:]), looks[-1][1])
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
