"""Runs: trials that are due, who runs them, and time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeAlias

from fairtrial.model.case import Case
from fairtrial.model.replay import ReplayNote
from fairtrial.model.task import Reused, Tokens
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


@dataclass(frozen=True, slots=True)
class Line:
    """Where one try of a trial makes its model calls.

    Attributes:
        token: Names it.
        environ: Variables that lead its programs and its own calls there.
    """

    token: str
    environ: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class CallsMade:
    """The model calls of one try of a trial.

    Attributes:
        live: How many were answered by a model.
        tokens: What the live ones read and wrote; None when any of it is unknown.
        cost_usd: What the live ones cost; None when any of it is unknown.
        reused: Recorded answers that were served instead; None when none was.
        replay: How far they followed a recording; None without one.
    """

    live: int
    tokens: Tokens | None = None
    cost_usd: float | None = None
    reused: Reused | None = None
    replay: ReplayNote | None = None


class CallRecorder(Protocol):
    """Records the model calls of trials, and may serve recorded ones.

    `open` and `close` as for a task; `close` stores whatever was not stored yet.
    """

    async def open(self) -> None:
        """Listen."""
        ...

    async def begin(self, key: TrialKey) -> Line:
        """Return where one try of a trial makes its calls."""
        ...

    async def end(self, line: Line) -> CallsMade:
        """End a try: what it still asks for ends, and its calls are stored.

        Raises:
            StoreError: they could not be stored.
        """
        ...

    async def close(self) -> None:
        """Listen no more, and store everything.

        Raises:
            StoreError: something could not be stored.
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
