"""W8: model calls through the recording proxy, each a short stream, everything recorded."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import statistics
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass

from bench.measuring import Command, measure
from bench.place import Place
from bench.table import Row

AT_ONCE = 16


@dataclass
class Service:
    """A running program that listens.

    Attributes:
        port: Where.
        cpu_s: What it used in all, once it ended.
    """

    port: int
    cpu_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Seen:
    """What clients saw: seconds to the first byte of a stream, streams a second."""

    first_byte_s: float
    per_s: float


def run(place: Place) -> list[Row]:
    """Measure streams through the proxy, through a splice of bytes, and without either."""
    few, many = place.sizes.cases // 2, place.sizes.cases * 2
    with (
        running(place.floor("stream_server")) as upstream,
        running(place.floor("byte_splice", upstream.port, place.folder / "splice.log")) as splice,
        running(proxy(place, upstream.port)) as ours,
    ):
        ports = {"direct": upstream.port, "splice": splice.port, "ours": ours.port}
        alone = in_turns(place, ports, few, 1)
        crowd = in_turns(place, ports, many, AT_ONCE)
    with running(proxy(place, upstream.port)) as idle:
        pass
    calls = (place.rounds + 1) * (few + many)
    added = (alone["ours"].first_byte_s - alone["direct"].first_byte_s) * 1e3
    least = (alone["splice"].first_byte_s - alone["direct"].first_byte_s) * 1e3
    ours_s, splice_s = crowd["ours"].per_s, crowd["splice"].per_s
    return [
        Row("W8", "added to the first byte, one client", "ms", max(added, 1e-3), None, 0.5),
        Row("W8", "the same of a splice", "ms", max(least, 1e-3), None, None),
        Row("W8", f"a stream, {AT_ONCE} clients", "µs", 1e6 / ours_s, 1e6 / splice_s, 4.0),
        Row("W8", "CPU of a call", "ms", (ours.cpu_s - idle.cpu_s) / calls * 1e3, None, 1.0),
    ]


def proxy(place: Place, upstream: int) -> Command:
    """Return our proxy in front of a server."""
    return place.fairtrial(
        "proxy", "--anthropic-upstream", f"http://127.0.0.1:{upstream}", "--json"
    )


@contextlib.contextmanager
def running(command: Command) -> Iterator[Service]:
    """Run a program that first prints its port, or an object with its URL."""
    with subprocess.Popen(
        command.argv,
        env={**os.environ, **command.env},
        cwd=command.cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        said = json.loads(line)
        port = said if isinstance(said, int) else int(said["url"].rpartition(":")[2])
        service = Service(port)
        process.stdout.close()  # nobody reads the lines of the calls
        try:
            yield service
        finally:
            process.send_signal(signal.SIGINT)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            service.cpu_s = usage.ru_utime + usage.ru_stime


def in_turns(place: Place, ports: dict[str, int], streams: int, at_once: int) -> dict[str, Seen]:
    """Let clients ask each server once a round, after a round that warms up; return medians."""
    taken: dict[str, list[Seen]] = {name: [] for name in ports}
    for turn in range(place.rounds + 1):
        for name, port in ports.items():
            sample = measure(place.floor("stream_client", port, streams, at_once))
            if turn > 0:
                taken[name].append(Seen(**json.loads(sample.output)))
            time.sleep(0.2)  # what is written afterwards is not the next one's
    return {
        name: Seen(
            statistics.median(one.first_byte_s for one in seen),
            statistics.median(one.per_s for one in seen),
        )
        for name, seen in taken.items()
    }
