"""Runs before the first trial that count for nothing: caches fill, files are read."""

from __future__ import annotations

from collections.abc import Mapping

from fairtrial.engine.control import Control
from fairtrial.model.case import Case
from fairtrial.model.errors import TrialProblem
from fairtrial.model.task import TaskCall
from fairtrial.ports import Task


async def warm_up(
    tasks: Mapping[str, Task], case: Case, *, times: int, seed: int, control: Control
) -> None:
    """Run the task of every arm a few times, until the run is asked to stop.

    Whether it fails is for the trials to tell.

    Args:
        tasks: The task of each arm.
        case: What it runs on.
        times: How often.
        seed: The seed it is given.
        control: How the run is asked to stop.
    """
    for _ in range(times):
        for arm, task in tasks.items():
            if control.drain_reason is not None:
                return
            try:
                await task.run(TaskCall(case, arm, trial=1, attempt=1, seed=seed))
            except TrialProblem:
                continue
