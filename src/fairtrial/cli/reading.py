"""How far a command is that reads many files: a line on a terminal, nothing elsewhere."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fairtrial.app.bench import Bench

if TYPE_CHECKING:  # it brings what is not needed to see that nothing is new
    from fairtrial.model.events import Event

_EVERY_S = 0.2
_CLEAR = "\r\x1b[2K"


@contextmanager
def reading(bench: Bench) -> Iterator[Bench]:
    """Show how many files are read while the block runs, once it takes a while."""
    if not sys.stderr.isatty():
        yield bench
        return
    last = time.monotonic()
    shown = False

    def see(event: Event) -> None:
        nonlocal last, shown
        from fairtrial.model.events import FilesRead  # noqa: PLC0415  # there once there is one

        now = time.monotonic()
        if isinstance(event, FilesRead) and now - last >= _EVERY_S:
            last, shown = now, True
            sys.stderr.write(f"{_CLEAR}{event.done:,} of {event.planned:,} files")
            sys.stderr.flush()

    watched = dataclasses.replace(bench, publish=see)
    if "store" in bench.__dict__:
        watched.__dict__["store"] = bench.store
    try:
        yield watched
    finally:
        if shown:
            sys.stderr.write(_CLEAR)
            sys.stderr.flush()
        if "store" in watched.__dict__:  # opened meanwhile; whoever owns the bench closes it
            bench.__dict__["store"] = watched.store
