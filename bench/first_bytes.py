"""How long a server takes to the first byte of a page, beside an answer that reads nothing."""

from __future__ import annotations

import http.client
import os
import re
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
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


def first_bytes(address: str, rounds: int, **paths: str) -> Mapping[str, float]:
    """Return the median seconds to the first byte of each path, all measured in turns."""
    taken: dict[str, list[float]] = {name: [] for name in paths}
    for _ in range(rounds + 1):
        for name, path in paths.items():
            taken[name].append(_one(address, path))
    return {name: median(seconds[1:]) for name, seconds in taken.items()}


def _one(address: str, path: str) -> float:
    with closing(http.client.HTTPConnection(address, timeout=_PATIENCE_S)) as connection:
        start = time.perf_counter()
        connection.request("GET", path, headers={"accept": "text/html"})
        answer = connection.getresponse()
        seconds = time.perf_counter() - start
        assert answer.status == 200, answer.read()
        answer.read()
        return seconds
