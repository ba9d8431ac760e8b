"""A run: every trial once, whatever happens on the way."""

from __future__ import annotations

import asyncio

import pytest
from tests.engine.conftest import MakeRig, Rig, ScriptedTask, echo

from fairtrial.engine.plan import Policy
from fairtrial.model.errors import FairtrialError, InfraError, StoreError, TaskError, Undecidable
from fairtrial.model.events import RunDraining, RunEnded, RunStarted, TrialRecorded, TrialRetried
from fairtrial.model.experiment import Status
from fairtrial.model.task import TaskCall, TaskResult
from fairtrial.model.verdict import Cause, Verdict


def verdicts(rig: Rig) -> dict[str, tuple[Verdict, Cause | None]]:
    trials = rig.store.experiments.trials(rig.experiment.id)
    return {trial.key.case_id: (trial.verdict, trial.cause) for trial in trials}


def test_every_trial_runs_once_and_the_experiment_is_finished(make_rig: MakeRig) -> None:
    rig = make_rig(n_cases=20, trials=3)
    task = ScriptedTask(echo)
    ending = rig.run(task)
    assert (ending.status, ending.reason) == (Status.FINISHED, None)
    ran = [(call.case.id, call.trial) for call in task.calls]
    assert len(ran) == len(set(ran)) == 60
    assert (task.opened, task.closed) == (1, 1)
    state = rig.store.experiments.find(rig.experiment.id)
    assert (state.status, state.totals.passed, state.totals.rows) == (Status.FINISHED, 60, 20)


def test_events_tell_the_whole_story_in_order(make_rig: MakeRig) -> None:
    rig = make_rig(n_cases=3)
    rig.run(ScriptedTask(echo))
    assert isinstance(rig.events[0], RunStarted)
    assert isinstance(rig.events[-1], RunEnded)
    told = [event.trial.key for event in rig.events if isinstance(event, TrialRecorded)]
    assert sorted(told) == sorted(rig.recorded)


def test_a_trial_is_on_record_when_it_is_told(make_rig: MakeRig) -> None:
    rig = make_rig(n_cases=30)
    missing = []

    class Watch(list):  # type: ignore[type-arg]
        def append(self, event: object) -> None:
            if isinstance(event, TrialRecorded) and event.trial.key not in rig.recorded:
                missing.append(event.trial.key)

    rig.events = Watch()
    rig.run(ScriptedTask(echo))
    assert missing == []


def test_concurrency_bounds_the_trials_in_flight(make_rig: MakeRig) -> None:
    rig = make_rig(n_cases=30, policy=Policy(concurrency=3))
    running, most = 0, 0

    async def slow(call: TaskCall) -> TaskResult:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001)
        running -= 1
        return TaskResult(call.case.input)

    rig.run(ScriptedTask(slow))
    assert most == 3


def test_a_problem_becomes_the_verdict_of_its_own_trial_only(make_rig: MakeRig) -> None:
    rig = make_rig(n_cases=6, policy=Policy(retries=0))
    rig.crash_log = lambda _: "the log"
    problems = {
        "c000": TaskError("crashed"),
        "c001": InfraError("refused", kind="network"),
        "c002": Undecidable("asked for permission"),
        "c003": RuntimeError("a defect"),
    }

    async def answer(call: TaskCall) -> TaskResult:
        if call.case.id in problems:
            raise problems[call.case.id]
        return TaskResult(-1 if call.case.id == "c004" else call.case.input)

    assert rig.run(ScriptedTask(answer)).status is Status.FINISHED
    assert verdicts(rig) == {
        "c000": (Verdict.FAILED, Cause.TASK),
        "c001": (Verdict.UNDECIDED, Cause.INFRA),
        "c002": (Verdict.UNDECIDED, Cause.UNDECIDABLE),
        "c003": (Verdict.UNDECIDED, Cause.INTERNAL),
        "c004": (Verdict.FAILED, None),
        "c005": (Verdict.PASSED, None),
    }


def test_an_error_and_a_time_out_in_a_result_keep_its_output(make_rig: MakeRig) -> None:
    rig = make_rig(n_cases=2)

    async def answer(call: TaskCall) -> TaskResult:
        if call.case.id == "c000":
            return TaskResult("half", error="exit status 3", cost_usd=0.25)
        return TaskResult("half", timed_out=True)

    rig.run(ScriptedTask(answer))
    first, second = rig.store.experiments.trials(rig.experiment.id)
    assert (first.verdict, first.cause, first.output) == (Verdict.FAILED, Cause.TASK, "half")
    assert (first.cost_usd, first.reason) == (0.25, "exit status 3")
    assert (second.verdict, second.cause, second.output) == (Verdict.FAILED, Cause.LIMIT, "half")


def test_infrastructure_is_tried_again_until_it_works(make_rig: MakeRig) -> None:
    rig = make_rig(n_cases=1)

    async def answer(call: TaskCall) -> TaskResult:
        if len(task.calls) <= 2:
            raise InfraError("429", kind="rate_limit", retry_after=7.0)
        return TaskResult(call.case.input)

    task = ScriptedTask(answer)
    rig.run(task)
    (trial,) = rig.store.experiments.trials(rig.experiment.id)
    assert (trial.verdict, trial.tries) == (Verdict.PASSED, 3)
    assert len({call.seed for call in task.calls}) == 1
    retries = [event for event in rig.events if isinstance(event, TrialRetried)]
    assert [retry.tries for retry in retries] == [1, 2]
    assert rig.clock.slept == [retry.wait_s for retry in retries]
    assert all(7.0 <= wait <= 9.0 for wait in rig.clock.slept)


@pytest.mark.parametrize(("kind", "tries"), [("server", 4), ("setup", 2), ("login", 1)])
def test_how_often_depends_on_what_failed(make_rig: MakeRig, kind: str, tries: int) -> None:
    rig = make_rig(n_cases=1)

    async def answer(_: TaskCall) -> TaskResult:
        raise InfraError("no", kind=kind)

    rig.run(ScriptedTask(answer))
    (trial,) = rig.store.experiments.trials(rig.experiment.id)
    assert (trial.tries, trial.cause) == (tries, Cause.INFRA)


def test_the_time_limit_counts_the_retries(make_rig: MakeRig) -> None:
    rig = make_rig(n_cases=1, policy=Policy(retries=100, trial_timeout_s=30.0))

    async def answer(call: TaskCall) -> TaskResult:
        assert call.time_limit_s is not None
        assert 0 < call.time_limit_s <= 30.0
        raise InfraError("503", kind="server", retry_after=8.0)

    rig.run(ScriptedTask(answer))
    (trial,) = rig.store.experiments.trials(rig.experiment.id)
    assert trial.cause is Cause.INFRA
    assert 3 <= trial.tries <= 4
    assert rig.clock.seconds <= 30.0


def test_a_streak_of_infrastructure_stops_the_run_and_a_resume_makes_it_whole(
    make_rig: MakeRig,
) -> None:
    rig = make_rig(n_cases=50, policy=Policy(concurrency=1, retries=0, stop_after_infra=5))

    async def down(_: TaskCall) -> TaskResult:
        raise InfraError("connection refused", kind="network")

    ending = rig.run(ScriptedTask(down))
    assert ending.status is Status.STOPPED
    assert ending.reason == "5 trials in a row failed on infrastructure: connection refused"
    assert len(rig.recorded) == 5
    again = rig.resumed()
    lost = again.store.experiments.recorded_keys(again.experiment.id, frozenset({Cause.INFRA}))
    assert again.run(ScriptedTask(echo), frozenset(again.recorded - lost)).status is Status.FINISHED
    assert again.store.experiments.find(again.experiment.id).totals.passed == 50


def test_zero_never_stops(make_rig: MakeRig) -> None:
    rig = make_rig(n_cases=20, policy=Policy(retries=0, stop_after_infra=0))

    async def down(_: TaskCall) -> TaskResult:
        raise InfraError("down", kind="network")

    assert rig.run(ScriptedTask(down)).status is Status.FINISHED
    assert len(rig.recorded) == 20


def test_draining_finishes_what_runs(make_rig: MakeRig) -> None:
    rig = make_rig(n_cases=40, policy=Policy(concurrency=2))

    async def answer(call: TaskCall) -> TaskResult:
        if len(task.calls) == 5:
            rig.control.drain("asked to")
        await asyncio.sleep(0)
        return TaskResult(call.case.input)

    task = ScriptedTask(answer)
    ending = rig.run(task)
    assert (ending.status, ending.reason) == (Status.INTERRUPTED, "asked to")
    assert len(rig.recorded) == len(task.calls) < 40
    assert any(isinstance(event, RunDraining) for event in rig.events)


def test_cancelling_drops_what_runs_and_a_resume_runs_exactly_the_rest(make_rig: MakeRig) -> None:
    rig = make_rig(n_cases=12, policy=Policy(concurrency=2))

    async def answer(call: TaskCall) -> TaskResult:
        if len(task.calls) == 7:
            rig.control.cancel("asked to")
        await asyncio.sleep(0.001 if len(task.calls) < 7 else 3600)
        return TaskResult(call.case.input)

    task = ScriptedTask(answer)
    assert rig.run(task).status is Status.INTERRUPTED
    before = frozenset(rig.recorded)
    assert 0 < len(before) < 12
    again, rest = rig.resumed(), ScriptedTask(echo)
    assert again.run(rest, before).status is Status.FINISHED
    assert {call.case.id for call in rest.calls} == {f"c{n:03}" for n in range(12)} - {
        key.case_id for key in before
    }
    assert len(again.recorded) == 12


def test_a_run_that_was_told_to_stop_before_it_began_runs_nothing(make_rig: MakeRig) -> None:
    rig = make_rig()
    rig.control.cancel("too late")
    task = ScriptedTask(echo)
    assert rig.run(task).status is Status.INTERRUPTED
    assert task.calls == []


def test_a_store_that_fails_ends_the_run_and_keeps_what_was_told(
    make_rig: MakeRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = make_rig(n_cases=200, policy=Policy(concurrency=2))
    record = rig.store.experiments.record
    groups = 0

    def failing(*arguments: object) -> None:
        nonlocal groups
        groups += 1
        if groups > 3:
            raise StoreError("the disk is full")
        record(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(rig.store.experiments, "record", failing)

    async def answer(call: TaskCall) -> TaskResult:
        await asyncio.sleep(0.0005)
        return TaskResult(call.case.input)

    with pytest.raises(StoreError, match="disk is full"):
        rig.run(ScriptedTask(answer))
    told = {event.trial.key for event in rig.events if isinstance(event, TrialRecorded)}
    assert told == rig.recorded
    assert 0 < len(told) < 200
    assert rig.store.experiments.find(rig.experiment.id).status is Status.STOPPED


@pytest.mark.parametrize(("kind", "tries"), [("setup", 2), ("login", 1)])
def test_a_failed_setup_is_tried_once_more_and_leaves_no_experiment(
    make_rig: MakeRig, kind: str, tries: int
) -> None:
    rig = make_rig()

    class NoSetup(ScriptedTask):
        async def open(self) -> None:
            self.opened += 1
            raise InfraError("no server", kind=kind)

    task = NoSetup(echo)
    with pytest.raises(FairtrialError, match="setup failed: no server"):
        rig.run(task)
    assert (task.calls, task.opened, task.closed) == ([], tries, 1)
    assert rig.store.experiments.newest(1) == []
    assert rig.events == []


def test_a_setup_that_works_the_second_time_is_enough(make_rig: MakeRig) -> None:
    rig = make_rig(n_cases=2)

    class Slow(ScriptedTask):
        async def open(self) -> None:
            self.opened += 1
            if self.opened == 1:
                raise InfraError("not yet", kind="setup")

    assert rig.run(Slow(echo)).status is Status.FINISHED


def test_a_task_that_forgets_its_limit_is_ended(
    make_rig: MakeRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fairtrial.engine.trial.GRACE_S", 0.01)
    rig = make_rig(n_cases=1, policy=Policy(trial_timeout_s=0.01))

    async def hang(_: TaskCall) -> TaskResult:
        await asyncio.sleep(3600)
        raise AssertionError

    rig.run(ScriptedTask(hang))
    (trial,) = rig.store.experiments.trials(rig.experiment.id)
    assert (trial.verdict, trial.cause) == (Verdict.FAILED, Cause.LIMIT)


def test_what_is_unusual_about_an_output_stands_before_the_reason_of_a_failure(
    make_rig: MakeRig,
) -> None:
    async def cut(call: TaskCall) -> TaskResult:
        output = "4 and" if call.case.id == "c000" else call.case.input
        return TaskResult(output, note="the answer was cut")

    rig = make_rig(n_cases=2)
    rig.run(ScriptedTask(cut))
    first, second = rig.store.experiments.trials(rig.experiment.id)
    assert first.reason == "the answer was cut; exact: compared"
    assert second.reason is None
