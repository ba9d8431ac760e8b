"""Whole processes, measured in turns: A B A B …, so that a busy machine slows all alike.

This process stays small: the kernel reports a child's peak memory as at least that of its parent.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

MB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Command:
    """A program to measure.

    Attributes:
        argv: Its words.
        env: Variables beside those of this process.
        cwd: Where it starts.
        before: Called before each time it runs, and not measured.
        status: The exit status it must have.
    """

    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: Path | None = None
    before: Callable[[], object] | None = None
    status: int = 0


@dataclass(frozen=True, slots=True)
class Sample:
    """One process, from its start to its end: seconds, seconds of CPU, peak bytes, output."""

    wall_s: float
    cpu_s: float
    rss: int
    output: bytes


@dataclass(frozen=True, slots=True)
class Result:
    """All samples of one command."""

    samples: Sequence[Sample]

    @property
    def wall_s(self) -> float:
        """The median time."""
        return statistics.median(sample.wall_s for sample in self.samples)

    @property
    def cpu_s(self) -> float:
        """The median CPU time."""
        return statistics.median(sample.cpu_s for sample in self.samples)

    @property
    def rss(self) -> int:
        """The largest peak memory."""
        return max(sample.rss for sample in self.samples)


def measure(command: Command) -> Sample:
    """Run a command once.

    Raises:
        RuntimeError: it failed.
    """
    if command.before is not None:
        command.before()
    start = time.perf_counter()
    with subprocess.Popen(
        command.argv,
        env={**os.environ, **command.env},
        cwd=command.cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != command.status:
        raise RuntimeError(f"{command.argv} ended with {process.returncode}")
    return Sample(wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, output)


def in_turns(rounds: int, **commands: Command) -> dict[str, Result]:
    """Run every command once a round, after one round that warms the caches."""
    samples: dict[str, list[Sample]] = {name: [] for name in commands}
    for turn in range(rounds + 1):
        for name, command in commands.items():
            sample = measure(command)
            if turn > 0:
                samples[name].append(sample)
    return {name: Result(taken) for name, taken in samples.items()}
