"""Runs trials one after the other, so that nothing but the trial itself takes its time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator

from fairtrial.model.trial import Trial
from fairtrial.ports import Clock, Executor, Lease, TrialSink, TrialWork

HELD_S = 0.1
"""How long a finished trial may wait for others, to share a write with them."""


class OneByOneExecutor(Executor):
    """Runs one trial after the other, once everything is warm.

    Trials that take less than `HELD_S` are handed on together: a write while the next one runs
    would take from it what is measured.

    Args:
        clock: Time.
        warm_up: Awaited once before the first trial.
        see: Called with every trial; it ends the run by raising.
    """

    def __init__(
        self, clock: Clock, warm_up: Callable[[], Awaitable[None]], see: Callable[[Trial], None]
    ) -> None:
        self._clock = clock
        self._warm_up = warm_up
        self._see = see

    async def drain(self, leases: Iterator[Lease], work: TrialWork, sink: TrialSink) -> None:
        """See `Executor.drain`."""
        await self._warm_up()
        held: list[Trial] = []
        since = self._clock.monotonic()
        try:
            for lease in leases:
                trial = await work(lease)
                held.append(trial)
                self._see(trial)
                now = self._clock.monotonic()
                if now - since >= HELD_S:
                    since = now
                    await _hand_on(held, sink)
        finally:
            await _hand_on(held, sink)


async def _hand_on(held: list[Trial], sink: TrialSink) -> None:
    trials, held[:] = tuple(held), ()
    for trial in trials:
        await sink(trial)
