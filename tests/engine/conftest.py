"""A plan over a few cases, a real store, and tasks that do what a test tells them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fairtrial.analysis.verdict import score_of
from fairtrial.engine.control import Control
from fairtrial.engine.plan import Arm, Plan, Policy
from fairtrial.engine.run import Due, Ending, Machinery, World, run
from fairtrial.engine.stages import Design, TrialOutcome
from fairtrial.engine.stop_rules import Budget
from fairtrial.engine.trial import GradeAll
from fairtrial.executors.local import LocalExecutor
from fairtrial.model.case import Case
from fairtrial.model.events import Event
from fairtrial.model.experiment import Experiment, Provenance
from fairtrial.model.grader import Grade, GraderSpec, Subject
from fairtrial.model.score import Score
from fairtrial.model.task import TaskCall, TaskResult, TaskSpec
from fairtrial.model.trial import TrialKey
from fairtrial.ports import Task
from fairtrial.store.opening import Store, open_store
from fairtrial.workspaces.host.client import HostWorkspace

Answer = Callable[[TaskCall], Awaitable[TaskResult]]


class FakeClock:
    """Time that moves only when somebody sleeps."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.slept: list[float] = []

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.seconds += seconds
        await asyncio.sleep(0)


@dataclass
class ScriptedTask(Task):
    """A task whose answer a test writes."""

    answer: Answer
    calls: list[TaskCall] = field(default_factory=list)
    opened: int = 0
    closed: int = 0

    async def open(self) -> None:
        self.opened += 1

    async def run(self, call: TaskCall) -> TaskResult:
        self.calls.append(call)
        return await self.answer(call)

    async def close(self) -> None:
        self.closed += 1


async def echo(call: TaskCall) -> TaskResult:
    return TaskResult(call.case.input)


EXACT = GraderSpec("exact", "exact")


async def equals_expected(subject: Subject) -> tuple[Score, ...]:
    value = 1.0 if subject.output == subject.case.expected else 0.0
    return (score_of(EXACT, Grade(value, "compared"), 1.0),)


def no_crash(error: BaseException) -> str:
    raise AssertionError("the engine met a defect") from error


@dataclass
class Rig:
    """An experiment in a real store, ready to be run as often as a test wants."""

    store: Store
    plan: Plan
    experiment: Experiment
    clock: FakeClock
    control: Control = field(default_factory=Control)
    events: list[Event] = field(default_factory=list)
    crash_log: Callable[[BaseException], str] = no_crash
    opened_before: bool = False
    grade: GradeAll = equals_expected

    def run(
        self,
        task: Task,
        kept: frozenset[TrialKey] = frozenset(),
        design: Design | None = None,
        budget: Budget | None = None,
    ) -> Ending:
        datasets = self.store.datasets
        world = World(
            store=self.store.experiments,
            load=lambda positions: datasets.cases(self.plan.dataset, positions),
            executor=LocalExecutor(self.plan.policy.concurrency),
            clock=self.clock,
            publish=self.events.append,
            crash_log=self.crash_log,
        )
        machinery = Machinery({"main": task}, (), self.grade, HostWorkspace(slots=1))
        known = {
            trial.key: TrialOutcome(trial.verdict, trial.score)
            for trial in (self.store.experiments.trials(self.experiment.id) if kept else ())
            if trial.key in kept
        }
        due = Due(self.plan, self.experiment, self.begin, kept, None, design, known, budget)
        return run(due, machinery, world, self.control)

    def begin(self) -> None:
        """Open the experiment, or open it again."""
        store = self.store.experiments
        if self.opened_before:
            store.reopen(self.experiment.id, self.plan.policy.content(), self.clock.now())
        else:
            store.open_experiment(self.experiment, [case.position for case in self.plan.cases])

    def resumed(self) -> Rig:
        """The same experiment, opened again."""
        return Rig(self.store, self.plan, self.experiment, self.clock, opened_before=True)

    @property
    def recorded(self) -> set[TrialKey]:
        return self.store.experiments.recorded_keys(self.experiment.id)


MakeRig = Callable[..., Rig]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store") as opened:
        yield opened


@pytest.fixture
def make_rig(store: Store) -> MakeRig:
    def make(n_cases: int = 6, trials: int = 1, policy: Policy | None = None) -> Rig:
        cases = [Case(f"c{n:03}", n, expected=n) for n in range(n_cases)]
        version, _ = store.datasets.add_version("d", cases)
        plan = Plan(
            dataset=version,
            cases=tuple(store.datasets.outline(version)),
            arms=(Arm("main", TaskSpec("scripted")),),
            graders=(EXACT,),
            trials=trials,
            seed=7,
            policy=policy or Policy(),
        )
        clock = FakeClock()
        experiment = Experiment(
            id="exp_01ARZ3NDEKTSV4RRFFQ69G5FAV",
            name="d",
            dataset="d",
            dataset_number=version.number,
            dataset_digest=version.digest,
            arms=("main",),
            trials=trials,
            n_cases=n_cases,
            seed=7,
            spec=plan.spec(),
            policy=plan.policy.content(),
            identity=plan.identity,
            provenance=Provenance("0", "3", "host", "/"),
            created_at=clock.now(),
        )
        return Rig(store, plan, experiment, clock)

    return make
