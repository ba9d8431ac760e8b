"""The interfaces between the engine and the world; adapters implement them, the engine sees them.

An adapter is checked against its contract by a conformance class of `fairtrial.testing`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol, TypeAlias

from fairtrial.model.call import ModelCall, ModelReply
from fairtrial.model.case import Case, CaseKey
from fairtrial.model.columns import PairedRows
from fairtrial.model.dataset import DatasetVersion
from fairtrial.model.experiment import (
    Experiment,
    ExperimentState,
    GraderTotals,
    Status,
)
from fairtrial.model.grader import Grade, GraderSpec, Subject
from fairtrial.model.json import Json
from fairtrial.model.row import Row
from fairtrial.model.task import ProcessUsage, TaskCall, TaskResult
from fairtrial.model.trial import Trial, TrialKey
from fairtrial.model.verdict import Cause, Verdict


class Task(Protocol):
    """Turns cases into outputs.

    `open` is awaited once before the first call and `close` once after the last, also after a
    cancel. `run` is awaited many times at once. Between two calls nothing is shared that could
    change an outcome.
    """

    async def open(self) -> None:
        """Acquire what all calls share (a client, helper processes).

        Raises:
            InfraError: the setup failed.
        """
        ...

    async def run(self, call: TaskCall) -> TaskResult:
        """Run one case.

        A cancelled call leaves nothing running. The task enforces `call.time_limit_s` itself and
        then returns a result with `timed_out`, or raises `TrialTimeout` when there is no output.

        Raises:
            TaskError: the task failed; it is not tried again.
            TrialTimeout: it ran over the limit.
            InfraError: the world failed; it may be tried again.
            Undecidable: no verdict is possible.
        """
        ...

    async def close(self) -> None:
        """Release what `open` acquired. Safe to call when `open` failed."""
        ...


class Grader(Protocol):
    """Turns an output into a grade. `open` and `close` as for a task."""

    @property
    def spec(self) -> GraderSpec:
        """What the user wrote; the engine and the verdict read it, nothing changes it."""
        ...

    async def open(self) -> None:
        """Acquire what all calls share."""
        ...

    async def grade(self, subject: Subject) -> Grade:
        """Grade one output.

        Raises:
            GraderError: no answer could be had; any other exception counts as one.
        """
        ...

    async def close(self) -> None:
        """Release what `open` acquired."""
        ...


class Provider(Protocol):
    """Calls a model. `open` and `close` as for a task; many calls are made at once."""

    @property
    def identity(self) -> Json:
        """All of it that can change an answer: the ground of what is kept of its answers."""
        ...

    async def open(self) -> None:
        """Acquire what all calls share."""
        ...

    async def complete(self, call: ModelCall) -> ModelReply:
        """Call the model once; trying again is the caller's business.

        Raises:
            InfraError: the world failed (network, 429, 5xx, a refused login).
            ProviderError: the provider refused this call, and would again.
        """
        ...

    async def close(self) -> None:
        """Release what `open` acquired."""
        ...


@dataclass(frozen=True, slots=True)
class ProcessCall:
    """One program to run.

    Attributes:
        argv: The program and its arguments; never a shell string.
        stdin: Bytes for its standard input.
        env: Its whole environment.
        cwd: Its working directory.
        time_limit_s: Seconds it may take; None for no limit.
        max_output_bytes: It is stopped when its standard output grows over this.
    """

    argv: tuple[str, ...]
    stdin: bytes = field(repr=False)
    env: Mapping[str, str]
    cwd: Path
    time_limit_s: float | None = None
    max_output_bytes: int = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ProcessResult:
    """How a program ended.

    Attributes:
        stdout: Its standard output, up to the limit.
        usage: Exit status or signal, CPU time, memory, tail of standard error.
        duration_s: Wall-clock seconds from start to end.
        timed_out: The time limit ended it.
        truncated: Its output grew over the limit, which ended it.
        killed: Processes it had left behind, which were then killed.
    """

    stdout: bytes = field(repr=False)
    usage: ProcessUsage
    duration_s: float
    timed_out: bool = False
    truncated: bool = False
    killed: int = 0


class Workspace(Protocol):
    """A place where programs run.

    When `run` returns, raises or is cancelled, no process that the program started is alive,
    also none that changed its process group or session; the same holds when this process dies.
    """

    async def open(self) -> None:
        """Make the place ready."""
        ...

    async def run(self, call: ProcessCall) -> ProcessResult:
        """Run a program to its end.

        Raises:
            TaskError: the program could not be started (not found, not executable, bad `cwd`).
            Undecidable: the place was lost.
        """
        ...

    async def close(self) -> None:
        """Kill what still runs and clean up."""
        ...


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a task or a grader is built with, beside its own options.

    Attributes:
        base_dir: Where relative paths of the spec start.
        environ: The environment of this process, as it was when it started.
        workspace: Where programs run. Opened on first use; whoever built it closes it.
    """

    base_dir: Path
    environ: Mapping[str, str]
    workspace: Workspace


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
class CaseOutline:
    """A case without its content.

    Attributes:
        position: Its place in the version, from 0.
        id: The case id.
        condition: Its condition.
        split: Its split.
        digest: SHA-256 of its content, in hexadecimal.
    """

    position: int
    id: str
    condition: str
    split: str | None
    digest: str


class DatasetStore(Protocol):
    """Keeps datasets. Versions are immutable."""

    def add_version(self, name: str, cases: Iterable[Case]) -> tuple[DatasetVersion, bool]:
        """Store cases as the newest version of a dataset, in one transaction.

        Returns:
            The version, and whether it is new: the same cases in the same order as the newest
            version make no new one.
        """
        ...

    def version(self, ref: str) -> DatasetVersion:
        """Return the version that `NAME`, `NAME@NUMBER` or `NAME@DIGEST` (6+ digits) names.

        Raises:
            NotFoundError: there is none; the message suggests the nearest name.
        """
        ...

    def versions(self, name: str | None = None) -> Sequence[DatasetVersion]:
        """Return the newest version of every dataset by name, or all of one, newest first."""
        ...

    def cases(
        self, version: DatasetVersion, positions: Sequence[int] | None = None
    ) -> Iterator[Case]:
        """Yield cases in dataset order, or those at the given positions in the given order."""
        ...

    def outline(self, version: DatasetVersion) -> Iterator[CaseOutline]:
        """Yield what selection needs of every case, in dataset order, without its content."""
        ...


@dataclass(frozen=True, slots=True)
class TrialFilter:
    """Which recorded trials to yield; None does not filter.

    Attributes:
        verdicts: Their verdict is one of these.
        causes: Their cause is one of these; None among them stands for "judged by graders".
        arm: They ran in this arm.
        case_id: They ran this case.
    """

    verdicts: frozenset[Verdict] | None = None
    causes: frozenset[Cause | None] | None = None
    arm: str | None = None
    case_id: str | None = None


@dataclass(frozen=True, slots=True)
class RowQuery:
    """Which rows to return.

    Attributes:
        only: `failed` (a failed trial), `flaky`, `undecided`, or None for all.
        order: `key`, or `slowest` (longest mean duration first).
        limit: How many at most.
        after: The key and arm of the last row of the page before, with order `key`.
        arm: Only rows of this arm.
    """

    only: str | None = None
    order: str = "key"
    limit: int = 50
    after: tuple[str, str, str] | None = None
    arm: str | None = None


class ExperimentStore(Protocol):
    """Keeps experiments and their trials.

    Every write is one transaction. Execution is at least once and the record exactly once: a
    trial key is stored once, and a later record of it supersedes the earlier one in every read,
    without deleting it.
    """

    def open_experiment(self, experiment: Experiment, positions: Sequence[int]) -> None:
        """Store a new experiment as running, with its resolved cases (dataset positions)."""
        ...

    def reopen(self, experiment_id: str, policy: Mapping[str, Json], now: datetime) -> None:
        """Mark an unfinished (or, for a retry of errors, finished) experiment as running again.

        Raises:
            RefusedError: another process of this machine is at it.
        """
        ...

    def close_experiment(
        self, experiment_id: str, status: Status, reason: str | None, now: datetime
    ) -> None:
        """Record how an experiment ended."""
        ...

    def record(self, experiment_id: str, trials: Sequence[Trial], now: datetime) -> None:
        """Store trials with their scores and add them to all aggregates, in one transaction."""
        ...

    def find(self, ref: str) -> ExperimentState:
        """Return the experiment with this id, unique prefix (6+ characters) or newest name.

        Raises:
            NotFoundError: there is none, or the prefix fits several.
        """
        ...

    def unfinished(self, identity: str | None = None) -> Sequence[ExperimentState]:
        """Return experiments that are not finished, newest first; those of one identity."""
        ...

    def newest(
        self, limit: int, before: str | None = None, dataset: str | None = None
    ) -> Sequence[ExperimentState]:
        """Return the newest experiments, newest first; `before` is the last id of a page.

        With `dataset`, only those on some version of it.
        """
        ...

    def positions(self, experiment_id: str) -> Sequence[int]:
        """Return the resolved cases as dataset positions."""
        ...

    def recorded_keys(
        self, experiment_id: str, causes: frozenset[Cause] | None = None
    ) -> set[TrialKey]:
        """Return the keys on record; with `causes`, only those whose trial has such a cause."""
        ...

    def grader_totals(self, experiment_id: str) -> Sequence[GraderTotals]:
        """Return each grader's totals in the order of the spec."""
        ...

    def outcome_counts(
        self, experiment_id: str, arm: str | None = None
    ) -> Mapping[tuple[int, int], int]:
        """Return how many rows have so many passed and so many decided trials.

        Keys are (passed, decided); this is all that a pass rate and its interval need.
        """
        ...

    def rows(self, experiment_id: str, query: RowQuery) -> Sequence[Row]:
        """Return rows: an answer never reads all trials."""
        ...

    def n_rows(self, experiment_id: str, query: RowQuery) -> int:
        """Return how many rows a query has, whatever its limit and page."""
        ...

    def paired_rows(self, a: tuple[str, str], b: tuple[str, str]) -> PairedRows:
        """Return the rows of two arms, each an experiment's id and an arm's name, joined by key.

        No trial's body and no case's content is read.

        Raises:
            NotFoundError: there is no such experiment.
        """
        ...

    def grader_passes(
        self, experiment_id: str, arm: str, grader: str
    ) -> Mapping[CaseKey, tuple[int, int]]:
        """Return for each row how many trials passed a grader, and how many it scored.

        Rows that it did not score are absent.

        Raises:
            NotFoundError: there is no such experiment.
        """
        ...

    def trials(self, experiment_id: str, where: TrialFilter = TrialFilter()) -> Iterator[Trial]:
        """Yield whole trials ordered by case, condition, arm and trial, a page at a time."""
        ...


class SettingsStore(Protocol):
    """Keeps a JSON value under a key: what a project has chosen, and what was learned once."""

    def get(self, key: str) -> Json:
        """Return the value under a key; None when there is none."""
        ...

    def set(self, key: str, value: Json, now: datetime) -> None:
        """Keep a value, not None, in place of the one before."""
        ...

    def delete(self, key: str) -> bool:
        """Forget a value; return whether there was one."""
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
