"""Writes trials to the store in groups, off the event loop, in the order they finish."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from fairtrial.model.events import Event, TrialRecorded
from fairtrial.model.trial import Trial
from fairtrial.ports import Clock, ExperimentStore

LONGEST_QUEUE = 256
"""Trials that may wait for the disk; more, and the slots wait too."""


class Ledger:
    """Records the trials of one experiment.

    Trials that finish while a write is under way share the next commit. A trial is published only
    after its commit, so nothing that was ever reported can be lost.
    """

    def __init__(
        self,
        store: ExperimentStore,
        experiment_id: str,
        clock: Clock,
        publish: Callable[[Event], None],
    ) -> None:
        self._store = store
        self._experiment_id = experiment_id
        self._clock = clock
        self._publish = publish
        self._waiting: list[Trial] = []
        self._writer: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="fairtrial-ledger")

    async def add(self, trial: Trial) -> None:
        """Queue a trial; waits when the disk cannot keep up.

        Raises:
            StoreError: an earlier write failed.
        """
        self._waiting.append(trial)
        if self._writer is None or (self._writer.done() and self._writer.exception() is None):
            self._writer = asyncio.get_running_loop().create_task(self._write())
        if len(self._waiting) >= LONGEST_QUEUE or self._writer.done():
            await asyncio.shield(self._writer)

    async def close(self) -> None:
        """Write what waits, then release the thread.

        Raises:
            StoreError: a write failed.
        """
        try:
            if self._writer is not None:
                await self._writer
        finally:
            self._thread.shutdown(wait=True)

    async def _write(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            group, self._waiting = self._waiting, []
            await loop.run_in_executor(
                self._thread, self._store.record, self._experiment_id, group, self._clock.now()
            )
            for trial in group:
                self._publish(TrialRecorded(trial))
