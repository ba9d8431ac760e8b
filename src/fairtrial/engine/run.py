"""Runs a plan: leases its trials to an executor, records them, and closes the experiment."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fairtrial.engine.attempts import Attempting, Confirming
from fairtrial.engine.control import Control
from fairtrial.engine.ledger import Ledger
from fairtrial.engine.plan import Plan, Slot
from fairtrial.engine.retry import tries_allowed, wait_before
from fairtrial.engine.stages import Design, Outcomes, Stages, outcome_of, slot_key
from fairtrial.engine.stop_rules import Budget, InfraStreak, hopeless
from fairtrial.engine.trial import GradeAll, TrialRunner
from fairtrial.model.case import Case
from fairtrial.model.errors import FairtrialError, InfraError, StoreError
from fairtrial.model.events import Event, RunDraining, RunEnded, RunStarted
from fairtrial.model.experiment import Experiment, Status
from fairtrial.model.trial import Trial, TrialKey
from fairtrial.ports import (
    CallRecorder,
    Clock,
    Executor,
    ExperimentStore,
    Grader,
    Lease,
    Task,
    TrialWork,
    Workspace,
)


@dataclass(frozen=True, slots=True)
class World:
    """What a run touches.

    Attributes:
        store: Where trials are recorded.
        load: Yields whole cases for dataset positions, in the order asked.
        executor: Where trials run.
        clock: Time.
        publish: Takes events, in the thread of the run.
        crash_log: Keeps the traceback of a defect and says where.
    """

    store: ExperimentStore
    load: Callable[[Sequence[int]], Iterator[Case]]
    executor: Executor
    clock: Clock
    publish: Callable[[Event], None]
    crash_log: Callable[[BaseException], str]


@dataclass(frozen=True, slots=True)
class Machinery:
    """What the run opens before the first trial and closes after the last.

    Attributes:
        tasks: The task of each arm.
        graders: The graders.
        grade: Asks all graders about one output.
        workspace: Where their programs run.
        work: Turns a lease into a trial; None runs the task of its arm. A regrade has its own.
        attempting: With sequential attempts: how many, and what they are told.
        confirming: With reruns of failures: how many, and of which cases.
        recorder: Records the tasks' model calls; None leaves them alone.
        copy_of: Returns an earlier trial that stands for a new one; None runs them all.
    """

    tasks: Mapping[str, Task]
    graders: Sequence[Grader]
    grade: GradeAll
    workspace: Workspace
    work: TrialWork | None = None
    attempting: Attempting | None = None
    confirming: Confirming | None = None
    recorder: CallRecorder | None = None
    copy_of: Callable[[TrialKey], Trial | None] | None = None


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended: its status, and why when it did not run all that was planned."""

    status: Status
    reason: str | None


@dataclass(frozen=True, slots=True)
class Due:
    """What is to run: a plan, the experiment it fills, and what is on record already.

    Attributes:
        plan: Every trial of the experiment.
        experiment: What the trials are recorded under.
        begin: Opens it in the store, or opens it again. Called once, when task and graders are
            ready: a setup that fails leaves no experiment behind.
        kept: Trials on record that are not run again.
        leases: Yields what is due; None is the plan's own order, less what is kept.
        design: Chooses what is due stage by stage, in place of the plan's own order.
        known: With a design: the outcomes of the kept trials.
        budget: What the run may cost; None for no limit.
    """

    plan: Plan
    experiment: Experiment
    begin: Callable[[], None]
    kept: frozenset[TrialKey] = frozenset()
    leases: Callable[[], Iterator[Lease]] | None = None
    design: Design | None = None
    known: Outcomes = field(default_factory=dict)
    budget: Budget | None = None


def run(due: Due, machinery: Machinery, world: World, control: Control) -> Ending:
    """Run every trial that is due, and close the experiment.

    However this ends, by an exception too, every trial that was published is on record and the
    experiment is closed as what it then is.

    Raises:
        FairtrialError: a task's or a grader's setup failed, or the store did.
    """
    return asyncio.run(_Run(due, machinery, world, control).main())


class _Run:
    def __init__(self, due: Due, machinery: Machinery, world: World, control: Control) -> None:
        plan, experiment = due.plan, due.experiment
        self._begin, self._kept = due.begin, due.kept
        self._own_leases = due.leases
        self._outcomes = dict(due.known)
        self._design = due.design
        self._plan = plan
        self._experiment = experiment
        self._machinery = machinery
        self._world = world
        self._control = control
        self._streak = InfraStreak(plan.policy.stop_after_infra)
        self._budget = due.budget
        self._exhausted = False
        self._early: str | None = None
        self._drain_of_stage: asyncio.Future[None] | None = None
        self._in_flight = 0
        self._perform = machinery.work or self._runner().run

    def _runner(self) -> TrialRunner:
        world = self._world
        return TrialRunner(
            tasks=self._machinery.tasks,
            grade=self._machinery.grade,
            policy=self._plan.policy,
            seed=self._experiment.seed,
            clock=world.clock,
            publish=world.publish,
            crash_log=world.crash_log,
            give_up=lambda problem: self._control.stop(hopeless(problem)),
            attempting=self._machinery.attempting,
            confirming=self._machinery.confirming,
            recorder=self._machinery.recorder,
        )

    async def main(self) -> Ending:
        async with self._opened():
            self._begin()
            ending = Ending(Status.STOPPED, "an error ended the run")
            try:
                self._world.publish(
                    RunStarted(self._experiment, len(self._kept), self._plan.n_planned)
                )
                await self._drain()
                ending = self._ending()
            except FairtrialError as error:
                ending = Ending(Status.STOPPED, error.what)
                raise
            finally:
                self._close(ending)
        return ending

    @contextlib.asynccontextmanager
    async def _opened(self) -> AsyncIterator[None]:
        parts: list[Task | Grader] = [*self._machinery.tasks.values(), *self._machinery.graders]
        async with contextlib.AsyncExitStack() as stack:
            stack.push_async_callback(self._machinery.workspace.close)
            recorder = self._machinery.recorder
            if recorder is not None:
                stack.push_async_callback(recorder.close)
                await recorder.open()
            for part in parts:
                stack.push_async_callback(part.close)
                await self._open(part)
            yield

    async def _open(self, part: Task | Grader) -> None:
        """Open a part; a setup that fails is tried once more, like that of a trial."""
        jitter = random.Random(self._experiment.seed)  # noqa: S311  # spreads load, no secret
        tries = 0
        while True:
            tries += 1
            try:
                return await part.open()
            except InfraError as error:
                wait = wait_before(error, tries, jitter)
                if wait is None or tries >= tries_allowed(error, self._plan.policy.retries):
                    raise FairtrialError(
                        f"setup failed: {error}", fix="repair it, then run this again"
                    ) from error
                await self._world.clock.sleep(wait)

    async def _drain(self) -> None:
        world = self._world
        ledger = Ledger(world.store, self._experiment.id, world.clock, world.publish)
        loop = asyncio.get_running_loop()

        def wake() -> None:
            loop.call_soon_threadsafe(self._obey)

        self._control.listen(wake)
        try:
            for leases in self._stages():
                self._exhausted = False
                await self._drain_stage(leases, ledger)
                if not self._exhausted:
                    break
        finally:
            self._control.unlisten(wake)
            await ledger.close()

    async def _drain_stage(self, leases: Iterator[Lease], ledger: Ledger) -> None:
        drain = asyncio.ensure_future(
            self._world.executor.drain(self._until_stopped(leases), self._work, ledger.add)
        )
        self._drain_of_stage = drain
        try:
            if self._control.cancelled:
                drain.cancel()
            await drain
        except asyncio.CancelledError:
            if not self._control.cancelled:
                raise

    def _obey(self) -> None:
        if self._control.cancelled:
            if self._drain_of_stage is not None:
                self._drain_of_stage.cancel()
        else:
            reason = self._control.drain_reason or ""
            self._world.publish(RunDraining(reason, self._in_flight))

    def _stages(self) -> Iterator[Iterator[Lease]]:
        if self._own_leases is not None:
            yield self._own_leases()
        elif self._design is None:
            yield self._due(self._plan.slots())
        else:
            yield from self._designed(self._design(self._outcomes))

    def _designed(self, stages: Stages) -> Iterator[Iterator[Lease]]:
        while True:
            try:
                slots = next(stages)
            except StopIteration as end:
                self._early = end.value
                return
            yield self._due(slots)

    def _due(self, slots: Iterable[Slot]) -> Iterator[Lease]:
        due = [slot for slot in slots if slot_key(slot) not in self._kept]
        cases = self._world.load([slot.case.position for slot in due])
        for slot in due:
            yield Lease(next(cases), slot.arm, slot.trial)

    def _until_stopped(self, leases: Iterator[Lease]) -> Iterator[Lease]:
        """Yield the trials of a stage until there are none or the run is asked to stop."""
        for lease in leases:
            if self._budget is not None and self._control.drain_reason is None:
                self._stop(self._budget.refuses(self._in_flight))
            if self._control.drain_reason is not None:
                return
            yield lease
        self._exhausted = True

    async def _work(self, lease: Lease) -> Trial:
        self._in_flight += 1
        try:
            copy_of = self._machinery.copy_of
            copied = None if copy_of is None else copy_of(lease.key)
            trial = copied or await self._perform(lease)
        finally:
            self._in_flight -= 1
        if self._design is not None:
            self._outcomes[trial.key] = outcome_of(trial)
        self._stop(self._streak.see(trial))
        if self._budget is not None:
            self._stop(self._budget.see(trial))
        return trial

    def _stop(self, reason: str | None) -> None:
        if reason is not None:
            self._control.stop(reason)

    def _ending(self) -> Ending:
        if self._exhausted and not self._control.cancelled:
            return Ending(Status.FINISHED, self._early)
        if self._control.by_rule:
            return Ending(Status.STOPPED, self._control.drain_reason)
        return Ending(Status.INTERRUPTED, self._control.drain_reason)

    def _close(self, ending: Ending) -> None:
        with contextlib.suppress(StoreError):  # the first error is the one to tell
            self._world.store.close_experiment(
                self._experiment.id, ending.status, ending.reason, self._world.clock.now()
            )
        self._world.publish(RunEnded(ending.status, ending.reason))
