"""Ctrl-C and SIGTERM, turned into requests to a run."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from fairtrial.cli import streams
from fairtrial.engine.control import Control


@contextmanager
def stoppable(control: Control) -> Iterator[None]:
    """Let the first Ctrl-C drain the run and the second cancel it; SIGTERM cancels at once.

    SIGTERM is often followed by SIGKILL within seconds: there is no time to finish trials.
    """

    def interrupted(_signal: int, _frame: FrameType | None) -> None:
        if control.drain_reason is None:
            streams.tell("\nfinishing the trials in flight; press Ctrl-C again to end them too\n")
            control.drain("Ctrl-C")
        else:
            control.cancel("Ctrl-C")

    def terminated(_signal: int, _frame: FrameType | None) -> None:
        control.cancel("SIGTERM")

    before = {
        number: signal.signal(number, handler)
        for number, handler in ((signal.SIGINT, interrupted), (signal.SIGTERM, terminated))
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
