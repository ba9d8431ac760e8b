"""Runs the engine in a thread of its own: whoever calls may have an event loop, or be in one."""

from __future__ import annotations

import asyncio
import contextvars
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from fairtrial.engine.control import Control

T = TypeVar("T")
_AWAKE_S = 0.2


def waited_for(work: Callable[[], T], control: Control) -> T:
    """Return what the work returns.

    The first Ctrl-C lets the trials in flight finish, the second ends them; what is on record
    stays.

    Raises:
        KeyboardInterrupt: there was one; the work has ended.
    """
    future = _started(work)
    interrupted = False
    while True:
        try:
            result = future.result()
            break
        except KeyboardInterrupt:
            if interrupted:
                control.cancel("Ctrl-C")
            else:
                control.drain("Ctrl-C")
                sys.stderr.write(
                    "\nfinishing the trials in flight; press Ctrl-C again to end them too\n"
                )
            interrupted = True
    if interrupted:
        raise KeyboardInterrupt
    return result


async def awaited(work: Callable[[], T], control: Control) -> T:
    """Return what the work returns; the event loop goes on meanwhile.

    A cancel ends the trials in flight, and waits for the work to end.
    """
    future = asyncio.wrap_future(_started(work))
    try:
        # A notebook cancels a cell from a signal handler, which wakes no loop that has nothing due.
        while not future.done():
            await asyncio.wait([future], timeout=_AWAKE_S)
        return future.result()
    except asyncio.CancelledError:
        control.cancel("cancelled")
        await asyncio.wait([future])
        if not future.cancelled():
            future.exception()  # seen: the cancel is what is told
        raise


def _started(work: Callable[[], T]) -> Future[T]:
    future: Future[T] = Future()
    context = contextvars.copy_context()

    def run() -> None:
        try:
            future.set_result(context.run(work))
        except BaseException as error:  # noqa: BLE001  # it is raised where it is waited for
            future.set_exception(error)

    # A daemon: a function that never returns must not keep the program from ending.
    threading.Thread(target=run, name="fairtrial-run", daemon=True).start()
    return future
