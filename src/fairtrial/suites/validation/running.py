"""Validating many eval tasks, several at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from fairtrial.model.errors import InfraError, TaskError, Undecidable, UsageError
from fairtrial.model.isolation import Level
from fairtrial.ports import Surroundings
from fairtrial.ports.suites import EvalTasks, KeptTask
from fairtrial.suites.validation.findings import Validation
from fairtrial.suites.validation.trying import Trying
from fairtrial.suites.validation.validating import validated


@dataclass(frozen=True, slots=True)
class Listening:
    """Who is told how far it is.

    Attributes:
        tried: Told of each planned try that is over, with what it cost.
        done: Given each task with its validation, or with why there is none.
        seconds: A clock that only goes forward.
    """

    tried: Callable[[float | None], None]
    done: Callable[[KeptTask, Validation | str], None]
    seconds: Callable[[], float]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is validated, and how.

    Attributes:
        tasks: The tasks.
        k: How often nothing done, and the reference, are verified.
        level: What stands between a verifier and the machine; None is the usual.
        concurrency: Verifiers at a time.
    """

    tasks: Sequence[KeptTask]
    k: int
    level: Level | None
    concurrency: int


def planned_tries(kept: KeptTask, k: int) -> int:
    """Return how many tries are told of a task: how many there will be is not known before."""
    return k * (1 + kept.task.has_reference) + len(kept.task.near_misses) + 1


def validate_all(plan: Plan, surroundings: Surroundings, listening: Listening) -> None:
    """Validate tasks, and hand out each as it is done; what was done outlasts an interrupt.

    Args:
        plan: What is validated.
        surroundings: What graders are built with; its workspace is closed.
        listening: Who is told.

    Raises:
        UsageError: the level does not work here.
        InfraError: no program can be run here.
    """
    evals = surroundings.evals
    if evals is None:
        raise UsageError("eval tasks cannot be run here")
    asyncio.run(_Running(plan, surroundings, evals, listening).all())


class _Running:
    def __init__(
        self, plan: Plan, surroundings: Surroundings, evals: EvalTasks, listening: Listening
    ) -> None:
        self._plan = plan
        self._surroundings = surroundings
        self._evals = evals
        self._listening = listening
        self._gate = asyncio.Semaphore(plan.concurrency)

    async def all(self) -> None:
        self._evals.open()
        try:
            try:
                await self._surroundings.workspace.open()
            except Undecidable as error:
                raise InfraError(str(error), kind="setup") from error
            source = iter(self._plan.tasks)
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self._plan.concurrency, len(self._plan.tasks))):
                    group.create_task(self._slot(source))
        except* Exception as errors:  # noqa: BLE001  # the first is what ended it
            raise _first(errors) from None
        finally:
            self._evals.close()
            await self._surroundings.workspace.close()

    async def _slot(self, source: Iterator[KeptTask]) -> None:
        for kept in source:
            told = _Told(planned_tries(kept, self._plan.k), self._listening.tried)
            self._listening.done(kept, await self._one(kept, told))
            told.end()

    async def _one(self, kept: KeptTask, told: _Told) -> Validation | str:
        plan, listening = self._plan, self._listening
        trying = Trying(
            task=kept.task,
            k=plan.k,
            level=plan.level,
            surroundings=self._surroundings,
            evals=self._evals,
            gate=self._gate,
            tried=told.tried,
        )
        try:
            return await validated(trying, kept.folder, listening.seconds)
        except (InfraError, Undecidable, TaskError) as error:
            return str(error)
        except BaseExceptionGroup as errors:
            first = _first(errors)
            if isinstance(first, InfraError | Undecidable | TaskError):
                return str(first)
            raise first from None


class _Told:
    """Tells of as many tries of a task as were planned, however many there are."""

    def __init__(self, planned: int, tell: Callable[[float | None], None]) -> None:
        self._left = planned
        self._tell = tell

    def tried(self, cost_usd: float | None) -> None:
        """Tell of a try; the last one is kept for the end."""
        if self._left > 1:
            self._left -= 1
            self._tell(cost_usd)

    def end(self) -> None:
        """Tell of those that are left."""
        for _ in range(self._left):
            self._tell(0.0)


def _first(errors: BaseExceptionGroup) -> BaseException:
    first: BaseException = errors
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    return first
