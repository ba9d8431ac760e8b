"""A run whose model calls are recorded: each try has a line of its own."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from tests.engine.conftest import MakeRig, Rig, ScriptedTask, echo, equals_expected

from fairtrial.engine.calls import accounted
from fairtrial.engine.control import Control
from fairtrial.engine.run import Due, Ending, Machinery, World, run
from fairtrial.executors.local import LocalExecutor
from fairtrial.model.errors import InfraError, StoreError, TaskError
from fairtrial.model.experiment import Status
from fairtrial.model.replay import ReplayNote
from fairtrial.model.task import Reused, TaskCall, TaskResult, Tokens
from fairtrial.model.trial import TrialKey
from fairtrial.ports import CallRecorder, CallsMade, Line
from fairtrial.workspaces.host.client import HostWorkspace

LIVE = CallsMade(2, Tokens(10, 5), 0.5)
SERVED = CallsMade(
    1,
    Tokens(4, 2),
    0.2,
    Reused("recording", 1, Tokens(6, 3), 0.3),
    ReplayNote(2, 1, 1, 2, "system differs"),
)


class Recorder(CallRecorder):
    """Notes what it is asked, and says that each try made the same calls."""

    def __init__(self, made: CallsMade, *, breaks: bool = False) -> None:
        self.made = made
        self.breaks = breaks
        self.log: list[str] = []

    async def open(self) -> None:
        self.log.append("open")

    async def begin(self, key: TrialKey) -> Line:
        number = sum(entry.startswith("begin") for entry in self.log) + 1
        self.log.append(f"begin {key.case_id}")
        return Line(f"t{number}", {"ADDRESS": f"t{number}"})

    async def end(self, line: Line) -> CallsMade:
        self.log.append(f"end {line.token}")
        if self.breaks:
            raise StoreError("the disk is full")
        return self.made

    async def close(self) -> None:
        self.log.append("close")


def recorded_run(rig: Rig, task: ScriptedTask, recorder: Recorder, control: Control) -> Ending:
    datasets = rig.store.datasets
    world = World(
        rig.store.experiments,
        lambda positions: datasets.cases(rig.plan.dataset, positions),
        LocalExecutor(1),
        rig.clock,
        rig.events.append,
        rig.crash_log,
    )
    workspace = HostWorkspace(slots=1)
    machinery = Machinery({"main": task}, (), equals_expected, workspace, recorder=recorder)
    return run(Due(rig.plan, rig.experiment, rig.begin), machinery, world, control)


def trials(rig: Rig) -> list[Any]:
    return list(rig.store.experiments.trials(rig.experiment.id))


def test_each_try_has_a_line_of_its_own_and_the_last_one_counts(make_rig: MakeRig) -> None:
    rig = make_rig(n_cases=1)
    seen: list[str] = []

    async def busy_at_first(call: TaskCall) -> TaskResult:
        seen.append(call.environ["ADDRESS"])
        if len(seen) == 1:
            raise InfraError("busy", kind="rate_limit")
        return await echo(call)

    recorder = Recorder(LIVE)
    recorded_run(rig, ScriptedTask(busy_at_first), recorder, Control())
    assert seen == ["t1", "t2"]
    case = trials(rig)[0].key.case_id
    assert recorder.log == [
        "open",
        f"begin {case}",
        "end t1",
        f"begin {case}",
        "end t2",
        "close",
    ]
    [trial] = trials(rig)
    assert (trial.cost_usd, trial.tokens, trial.tries) == (0.5, Tokens(10, 5), 2)


def test_a_replay_is_on_the_record_of_the_trial(make_rig: MakeRig) -> None:
    rig = make_rig(n_cases=2)
    recorded_run(rig, ScriptedTask(echo), Recorder(SERVED), Control())
    for trial in trials(rig):
        assert (trial.replay, trial.reused) == (SERVED.replay, SERVED.reused)
        assert (trial.cost_usd, trial.tokens) == (0.2, Tokens(4, 2))


def test_a_task_that_fails_has_made_its_calls_all_the_same(make_rig: MakeRig) -> None:
    rig = make_rig(n_cases=1)

    async def fails(_call: TaskCall) -> TaskResult:
        raise TaskError("no")

    recorded_run(rig, ScriptedTask(fails), Recorder(LIVE), Control())
    assert trials(rig)[0].cost_usd == 0.5


def test_calls_that_cannot_be_stored_end_the_run(make_rig: MakeRig) -> None:
    rig = make_rig(n_cases=3)
    recorder = Recorder(LIVE, breaks=True)
    with pytest.raises(StoreError, match="the disk is full"):
        recorded_run(rig, ScriptedTask(echo), recorder, Control())
    assert recorder.log[-1] == "close"
    assert rig.store.experiments.find(rig.experiment.id).status is Status.STOPPED
    assert trials(rig) == []


def test_a_run_that_is_interrupted_closes_its_recorder(make_rig: MakeRig) -> None:
    rig = make_rig(n_cases=2)
    control = Control()

    async def hangs(_call: TaskCall) -> TaskResult:
        control.cancel("Ctrl-C")
        await asyncio.Event().wait()
        raise AssertionError

    recorder = Recorder(LIVE)
    ending = recorded_run(rig, ScriptedTask(hangs), recorder, control)
    assert (ending.status, recorder.log[-1]) == (Status.INTERRUPTED, "close")


class TestAccounted:
    TOLD = TaskResult("x", cost_usd=9.0, tokens=Tokens(1, 1))

    def test_a_task_that_says_what_it_cost_is_believed(self) -> None:
        assert accounted(self.TOLD, LIVE) == self.TOLD

    def test_but_not_when_it_was_served_recorded_answers(self) -> None:
        found = accounted(self.TOLD, SERVED)
        assert (found.cost_usd, found.tokens, found.reused) == (0.2, Tokens(4, 2), SERVED.reused)

    def test_no_call_and_no_recorder_change_nothing(self) -> None:
        assert accounted(self.TOLD, None) == self.TOLD
        assert accounted(self.TOLD, replace(LIVE, live=0)) == self.TOLD
