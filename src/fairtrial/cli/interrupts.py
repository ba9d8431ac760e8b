"""Ctrl-C and SIGTERM, turned into requests to a run."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from fairtrial.cli import streams
from fairtrial.engine.control import Control


@contextmanager
def stoppable(control: Control, what: str = "trials", *, shared: bool = False) -> Iterator[None]:
    """Let the first Ctrl-C drain the run and the second cancel it; SIGTERM cancels at once.

    SIGTERM is often followed by SIGKILL within seconds: there is no time to finish trials. The end
    of the terminal (SIGHUP) is the same, unless it is ignored, as under `nohup`.

    Args:
        control: What is asked.
        what: What is in flight, in the plural.
        shared: Ctrl-C is left to a program that has the same terminal.
    """

    def interrupted(_signal: int, _frame: FrameType | None) -> None:
        if shared:
            return
        if control.drain_reason is None:
            control.drain("Ctrl-C")  # first: who reads the line may press again at once
            streams.tell(f"\nfinishing the {what} in flight; press Ctrl-C again to end them too\n")
        else:
            control.cancel("Ctrl-C")

    def terminated(number: int, _frame: FrameType | None) -> None:
        control.cancel(signal.Signals(number).name)

    handlers = {signal.SIGINT: interrupted, signal.SIGTERM: terminated}
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        handlers[signal.SIGHUP] = terminated
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
