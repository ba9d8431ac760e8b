"""Experiments that run stage by stage."""

from __future__ import annotations

import pytest
from tests.engine.conftest import MakeRig, Rig, ScriptedTask

from fairtrial.engine.control import Control
from fairtrial.engine.stages import Outcomes, Stages, slot_key
from fairtrial.model.experiment import Status
from fairtrial.model.task import TaskCall, TaskResult
from fairtrial.model.trial import TrialKey
from fairtrial.model.verdict import Verdict


class RetryFailures:
    """Runs every case once, then those that failed once more, and notes what it saw."""

    def __init__(self, rig: Rig) -> None:
        self.slots = [slot for slot in rig.plan.slots() if slot.trial == 1]
        self.seen: list[dict[TrialKey, Verdict]] = []

    def __call__(self, outcomes: Outcomes) -> Stages:
        yield self.slots
        self.see(outcomes)
        failed = [s for s in self.slots if outcomes[slot_key(s)].verdict is Verdict.FAILED]
        if not failed:
            return "nothing failed"
        yield [slot._replace(trial=2) for slot in failed]
        self.see(outcomes)
        return None

    def see(self, outcomes: Outcomes) -> None:
        self.seen.append({key: found.verdict for key, found in outcomes.items()})


async def odd_cases_fail(call: TaskCall) -> TaskResult:
    return TaskResult(call.case.input if call.case.input % 2 == 0 else "wrong")


async def all_pass(call: TaskCall) -> TaskResult:
    return TaskResult(call.case.input)


def test_a_later_stage_sees_every_outcome_of_the_ones_before(make_rig: MakeRig) -> None:
    rig = make_rig(n_cases=6, trials=2)
    design = RetryFailures(rig)
    ending = rig.run(ScriptedTask(odd_cases_fail), design=design)
    assert (ending.status, ending.reason) == (Status.FINISHED, None)
    assert [len(seen) for seen in design.seen] == [6, 9]
    assert {key.case_id for key in rig.recorded if key.trial == 2} == {"c001", "c003", "c005"}


def test_a_design_that_ends_early_says_why_and_is_finished(make_rig: MakeRig) -> None:
    rig = make_rig(n_cases=4, trials=2)
    ending = rig.run(ScriptedTask(all_pass), design=RetryFailures(rig))
    assert (ending.status, ending.reason) == (Status.FINISHED, "nothing failed")
    assert len(rig.recorded) == 4


@pytest.mark.parametrize("stop_after", range(1, 9))
def test_a_run_stopped_anywhere_and_resumed_ends_like_an_undisturbed_one(
    make_rig: MakeRig, stop_after: int
) -> None:
    rig = make_rig(n_cases=6, trials=2)

    async def stopping(call: TaskCall) -> TaskResult:
        if len(task.calls) == stop_after:
            rig.control.drain("enough for now")
        return await odd_cases_fail(call)

    task = ScriptedTask(stopping)
    first = rig.run(task, design=RetryFailures(rig))
    assert first.status is Status.INTERRUPTED
    again = rig.resumed()
    again.control = Control()
    kept = frozenset(rig.recorded)
    assert len(kept) < 9
    rest = ScriptedTask(odd_cases_fail)
    ending = again.run(rest, kept, RetryFailures(again))
    assert ending.status is Status.FINISHED
    assert len(rest.calls) == 9 - len(kept)
    assert len(again.recorded) == 9
