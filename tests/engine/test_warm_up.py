"""What runs before the first trial counts for nothing, and stops when the run is asked to."""

from __future__ import annotations

import asyncio

from tests.engine.conftest import ScriptedTask, echo

from fairtrial.engine.control import Control
from fairtrial.engine.warm_up import warm_up
from fairtrial.model.case import Case
from fairtrial.model.errors import TaskError
from fairtrial.model.task import TaskCall, TaskResult

CASE = Case("warm-up", 1)


async def fails(_: TaskCall) -> TaskResult:
    raise TaskError("broken")


def test_every_arm_runs_as_often_as_asked_also_when_it_fails() -> None:
    a, b = ScriptedTask(echo), ScriptedTask(fails)
    asyncio.run(warm_up({"a": a, "b": b}, CASE, times=3, seed=5, control=Control()))
    assert [call.arm for call in a.calls + b.calls] == ["a"] * 3 + ["b"] * 3
    assert {call.seed for call in a.calls} == {5}


def test_it_ends_when_the_run_is_asked_to_stop() -> None:
    control = Control()

    async def stops(call: TaskCall) -> TaskResult:
        control.drain("Ctrl-C")
        return await echo(call)

    a, b = ScriptedTask(stops), ScriptedTask(echo)
    asyncio.run(warm_up({"a": a, "b": b}, CASE, times=3, seed=5, control=control))
    assert (len(a.calls), len(b.calls)) == (1, 0)
