"""Runs trials in this process, a fixed number at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from fairtrial.ports import Executor, Lease, TrialSink, TrialWork


class LocalExecutor(Executor):
    """A number of slots that pull from one iterator.

    Cheaper than an asyncio task a trial, and it cannot run ahead of the iterator.
    """

    def __init__(self, concurrency: int) -> None:
        self._concurrency = concurrency

    async def drain(self, leases: Iterator[Lease], work: TrialWork, sink: TrialSink) -> None:
        """See `Executor.drain`."""

        async def slot() -> None:
            for lease in leases:
                await sink(await work(lease))

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._concurrency):
                    group.create_task(slot())
        except* Exception as errors:  # noqa: BLE001  # the first is what ended the run
            raise errors.exceptions[0] from None
