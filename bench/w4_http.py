"""W4: a web service for each case, that answers after 50 ms."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

from bench.measuring import in_turns
from bench.place import Place
from bench.table import Row, times
from bench.w2_cases import seconds_of_run

AT_ONCE = 50


def run(place: Place) -> list[Row]:
    """Measure an http task beside a client that only writes and reads bytes."""
    count = place.sizes.cases
    with _server(place) as port:
        task = json.dumps({"kind": "http", "url": f"http://127.0.0.1:{port}/answer"})
        words = ("--dataset", place.dataset(count), "--task", task, "--grader", "exact")
        results = in_turns(
            place.rounds,
            ours=place.fairtrial("exp", "run", *words, "-c", str(AT_ONCE), "--json"),
            floor=place.floor("http_client", port, count, AT_ONCE),
        )
    ours, floor = results["ours"], results["floor"]
    run_ms = seconds_of_run(ours) * 1e3
    return [
        Row("W4", f"{count:,} requests, the run", "ms", run_ms, floor.wall_s * 1e3, 1.3 / 1.21),
        times("W4", f"{count:,} requests", ours, floor, 2.0 / 1.21),
    ]


@contextlib.contextmanager
def _server(place: Place) -> Iterator[int]:
    program = Path(__file__).parent / "server.py"
    with subprocess.Popen(
        [place.python, str(program), str(place.sizes.answer_s)], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.terminate()
