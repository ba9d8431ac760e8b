"""Runs: trials that are due, who runs them, and time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeAlias

from fairtrial.model.case import Case
from fairtrial.model.trial import Trial, TrialKey


@dataclass(frozen=True, slots=True)
class Lease:
    """One trial that is due: handed out once, to one slot of an executor.

    Attributes:
        case: The case to run, whole.
        arm: The arm to run it in.
        trial: 1 for the first trial of the case in this arm, then 2, 3, …
    """

    case: Case
    arm: str
    trial: int

    @property
    def key(self) -> TrialKey:
        """The trial's key."""
        return TrialKey(self.case.id, self.case.condition, self.arm, self.trial)


TrialWork: TypeAlias = Callable[[Lease], Awaitable[Trial]]


TrialSink: TypeAlias = Callable[[Trial], Awaitable[None]]


class Executor(Protocol):
    """Decides where and how many at a time trials run."""

    async def drain(self, leases: Iterator[Lease], work: TrialWork, sink: TrialSink) -> None:
        """Run `work` for each lease and hand each trial to `sink`, until `leases` ends.

        Leases are taken one at a time, only when a slot is free, so that the iterator can stop a
        run by ending. A cancel of this coroutine cancels every trial in flight.
        """
        ...


class Clock(Protocol):
    """Time, passed in so that tests own it."""

    def now(self) -> datetime:
        """Return the wall-clock time in UTC."""
        ...

    def monotonic(self) -> float:
        """Return seconds that only grow."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...
