"""Threads for blocking calls: one a call in flight, kept for the next call."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any


@dataclass(slots=True)
class _Job:
    function: Callable[[], Any]
    future: asyncio.Future[Outcome]
    loop: asyncio.AbstractEventLoop
    context: contextvars.Context
    abandoned: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call came to: its value, or the exception it raised (of any class)."""

    value: Any = None
    error: BaseException | None = None


class CallThreads:
    """Runs blocking functions beside the event loop.

    Not `concurrent.futures`: its threads are joined when the interpreter exits, so one call that
    never returns would keep the program alive. These are daemons. All bookkeeping happens on the
    event loop, so there is no lock.
    """

    def __init__(self, most: int = 512) -> None:
        """Make an empty pool.

        Args:
            most: How many threads at most, abandoned ones not counted; more calls wait.
        """
        self._most = most
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._threads = 0
        self._calls = 0
        self._abandoned = 0
        # To wake the loop costs as much as a short call, so calls that end together wake it once.
        self._done: deque[tuple[_Job, Outcome]] = deque()
        self._told: asyncio.AbstractEventLoop | None = None

    @property
    def abandoned(self) -> int:
        """How many calls nobody waits for any more still run."""
        return self._abandoned

    async def call(self, function: Callable[[], Any]) -> Outcome:
        """Run a function in a thread, in a copy of the current context.

        A cancel ends the wait, not the function: no Python thread can be stopped from outside.

        Raises:
            RuntimeError: the system gives no more threads.
        """
        loop = asyncio.get_running_loop()
        job = _Job(function, loop.create_future(), loop, contextvars.copy_context())
        if self._calls >= self._threads and self._threads - self._abandoned < self._most:
            self._start_thread()
        self._calls += 1
        self._jobs.put(job)
        try:
            return await job.future
        except asyncio.CancelledError:
            # A result that arrived in the same turn of the loop has been counted already.
            if not job.future.done() or job.future.cancelled():
                job.abandoned = True
                self._abandoned += 1
            raise

    def close(self) -> None:
        """Let idle threads end; busy ones end after their call, or with the program."""
        for _ in range(self._threads):
            self._jobs.put(None)
        self._threads = 0

    def _start_thread(self) -> None:
        name = f"fairtrial-call-{self._threads + 1}"
        threading.Thread(target=self._work, name=name, daemon=True).start()
        self._threads += 1

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            loop = job.loop
            self._done.append((job, _outcome(job)))
            del job  # keep nothing of a call alive while waiting for the next
            if self._told is loop:
                continue
            self._told = loop
            try:
                loop.call_soon_threadsafe(self._finish_all)
            except RuntimeError:
                return  # the loop is closed: the run is over

    def _finish_all(self) -> None:
        self._told = None  # first: a thread that adds more from here on tells so
        while self._done:
            self._finish(*self._done.popleft())

    def _finish(self, job: _Job, outcome: Outcome) -> None:
        self._calls -= 1
        if job.abandoned:
            self._abandoned -= 1
        if not job.future.done():
            job.future.set_result(outcome)


def _outcome(job: _Job) -> Outcome:
    if job.future.cancelled():
        return Outcome()
    try:
        return Outcome(job.context.run(job.function))
    except BaseException as error:  # noqa: BLE001  # SystemExit of a call must not end the run
        return Outcome(error=error)
