"""Processes that read transcripts beside this one, when there is much to read."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from fairtrial.app.bench import Bench
from fairtrial.sessions.finding import NewFile
from fairtrial.sessions.reading_ahead import ReadingAhead, processes_for

# The folder that it starts in is no place to look for modules in: -P.
_PROGRAM = (sys.executable, "-P", "-m", "fairtrial.app.reading_process")


@contextmanager
def reading_ahead(
    bench: Bench, files: Sequence[NewFile], known: Mapping[str, tuple[int, int, int, int, int]]
) -> Iterator[ReadingAhead | None]:
    """Start processes that read, as many as are worth it, and end them; None is none.

    Args:
        bench: The bench.
        files: What is to be read.
        known: What is known of each file; see `changed`.
    """
    sizes = [_unread(file, known.get(file.found.path)) for file in files]
    count = processes_for(sizes, _cores())
    if count == 0:
        yield None
        return
    ahead = ReadingAhead(_PROGRAM, bench.environ, count)
    try:
        yield ahead
    finally:
        ahead.close()


def _unread(file: NewFile, known: tuple[int, int, int, int, int] | None) -> int:
    """Return about how many bytes of a file are new."""
    offset = 0 if known is None else known[3]
    return file.found.size - offset if 0 <= offset <= file.found.size else file.found.size


def _cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
