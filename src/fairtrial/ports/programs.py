"""Programs and the places where they run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from fairtrial.model.task import ProcessUsage


@dataclass(frozen=True, slots=True)
class ProcessCall:
    """One program to run.

    Attributes:
        argv: The program and its arguments; never a shell string.
        stdin: Bytes for its standard input.
        env: Its whole environment.
        cwd: Its working directory.
        time_limit_s: Seconds it may take; None for no limit.
        max_output_bytes: It is stopped when its standard output grows over this.
    """

    argv: tuple[str, ...]
    stdin: bytes = field(repr=False)
    env: Mapping[str, str]
    cwd: Path
    time_limit_s: float | None = None
    max_output_bytes: int = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ProcessResult:
    """How a program ended.

    Attributes:
        stdout: Its standard output, up to the limit.
        usage: Exit status or signal, CPU time, memory, tail of standard error.
        duration_s: Wall-clock seconds from start to end.
        timed_out: The time limit ended it.
        truncated: Its output grew over the limit, which ended it.
        killed: Processes it had left behind, which were then killed.
    """

    stdout: bytes = field(repr=False)
    usage: ProcessUsage
    duration_s: float
    timed_out: bool = False
    truncated: bool = False
    killed: int = 0


class Workspace(Protocol):
    """A place where programs run.

    When `run` returns, raises or is cancelled, no process that the program started is alive,
    also none that changed its process group or session; the same holds when this process dies.
    """

    async def open(self) -> None:
        """Make the place ready."""
        ...

    async def run(self, call: ProcessCall) -> ProcessResult:
        """Run a program to its end.

        Raises:
            TaskError: the program could not be started (not found, not executable, bad `cwd`).
            Undecidable: the place was lost.
        """
        ...

    async def close(self) -> None:
        """Kill what still runs and clean up."""
        ...
