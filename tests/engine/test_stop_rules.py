"""Rules that end a run: what no other trial would be spared, and what it may cost."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.engine.conftest import MakeRig, ScriptedTask, echo, equals_expected

from fairtrial.engine.plan import Policy, stored_policy
from fairtrial.engine.stop_rules import OVER_BUDGET, Budget
from fairtrial.model.errors import InfraError, TaskError
from fairtrial.model.experiment import Status
from fairtrial.model.grader import Subject
from fairtrial.model.score import Score
from fairtrial.model.task import Reused, TaskCall, TaskResult
from fairtrial.model.verdict import Cause

ONE = Policy(concurrency=1)


async def a_quarter(call: TaskCall) -> TaskResult:
    return TaskResult(call.case.input, cost_usd=0.25)


@pytest.mark.parametrize(
    ("kind", "reason"), [("login", "the login was refused: 401"), ("quota", "limit is spent: 401")]
)
def test_a_problem_that_no_trial_is_spared_ends_the_run_at_once(
    make_rig: MakeRig, kind: str, reason: str
) -> None:
    rig = make_rig(n_cases=9, policy=ONE)

    async def answer(call: TaskCall) -> TaskResult:
        if len(task.calls) == 3:
            raise InfraError("401", kind=kind)
        return TaskResult(call.case.input)

    task = ScriptedTask(answer)
    ending = rig.run(task)
    assert ending.status is Status.STOPPED
    assert ending.reason is not None
    assert reason in ending.reason
    totals = rig.store.experiments.find(rig.experiment.id).totals
    assert (totals.passed, totals.causes) == (2, {Cause.INFRA: 1})
    assert rig.clock.slept == []


def test_a_grader_that_has_no_quota_left_ends_the_run_and_the_output_stays(
    make_rig: MakeRig,
) -> None:
    rig = make_rig(n_cases=9, policy=ONE)

    async def spent(_: Subject) -> tuple[Score, ...]:
        raise InfraError("used up", kind="quota")

    rig.grade = spent
    assert rig.run(ScriptedTask(echo)).reason == "the usage limit is spent: used up"
    (trial,) = rig.store.experiments.trials(rig.experiment.id)
    assert trial.cause is Cause.INFRA
    assert trial.output is not None


def test_a_grader_that_meets_other_trouble_does_not(make_rig: MakeRig) -> None:
    rig = make_rig(n_cases=3, policy=Policy(stop_after_infra=0))

    async def slow(_: Subject) -> tuple[Score, ...]:
        raise InfraError("429", kind="rate_limit")

    rig.grade = slow
    assert rig.run(ScriptedTask(echo)).status is Status.FINISHED


def test_what_judges_cost_and_what_was_reused_is_on_record(make_rig: MakeRig) -> None:
    rig = make_rig(n_cases=2)

    async def judged(subject: Subject) -> tuple[Score, ...]:
        (score,) = await equals_expected(subject)
        return (replace(score, cost_usd=0.5), replace(score, grader="other", cost_usd=0.25))

    async def answer(call: TaskCall) -> TaskResult:
        return TaskResult(call.case.input, reused=Reused("cache", 2))

    rig.grade = judged
    rig.run(ScriptedTask(answer))
    totals = rig.store.experiments.find(rig.experiment.id).totals
    assert (totals.grading_cost_usd, totals.grading_costed) == (1.5, 2)
    assert [(reused.source, reused.calls) for reused in totals.reused] == [("cache", 4)]


@pytest.mark.parametrize(("expected", "ran"), [(None, 4), (0.25, 4), (2.0, 0)])
def test_no_trial_starts_that_would_pass_the_limit(
    make_rig: MakeRig, expected: float | None, ran: int
) -> None:
    rig = make_rig(n_cases=9, policy=ONE)
    ending = rig.run(ScriptedTask(a_quarter), budget=Budget(1.0, 0.0, expected))
    assert ending.status is Status.STOPPED
    assert ending.reason is not None
    assert ending.reason.startswith(OVER_BUDGET)
    assert len(rig.recorded) == ran


def test_trials_in_flight_are_counted(make_rig: MakeRig) -> None:
    rig = make_rig(n_cases=30, policy=Policy(concurrency=4))
    rig.run(ScriptedTask(a_quarter), budget=Budget(2.0, 0.0, 0.25))
    assert len(rig.recorded) == 8


def test_what_was_spent_before_counts(make_rig: MakeRig) -> None:
    rig = make_rig(n_cases=9, policy=ONE)
    ending = rig.run(ScriptedTask(a_quarter), budget=Budget(1.0, 0.5, None))
    assert len(rig.recorded) == 2
    assert ending.reason == ("--max-cost $1.00: $1.00 is spent, and a trial costs about $0.25")


def test_graders_spend_from_the_same_limit(make_rig: MakeRig) -> None:
    rig = make_rig(n_cases=9, policy=ONE)

    async def judged(subject: Subject) -> tuple[Score, ...]:
        (score,) = await equals_expected(subject)
        return (replace(score, cost_usd=0.25),)

    rig.grade = judged
    rig.run(ScriptedTask(a_quarter), budget=Budget(1.0, 0.0, None))
    assert len(rig.recorded) == 2


def test_a_run_that_fits_is_finished_and_free_answers_never_stop_it(make_rig: MakeRig) -> None:
    rig = make_rig(n_cases=4)
    assert rig.run(ScriptedTask(a_quarter), budget=Budget(1.0, 0.0, None)).status is Status.FINISHED

    async def free(call: TaskCall) -> TaskResult:
        return TaskResult(call.case.input, cost_usd=0.0)

    again = rig.resumed()
    assert again.run(ScriptedTask(free), budget=Budget(1.0, 0.9, None)).status is Status.FINISHED


def test_answers_from_the_cache_cost_nothing(make_rig: MakeRig) -> None:
    rig = make_rig(n_cases=4)

    async def kept(call: TaskCall) -> TaskResult:
        return TaskResult(call.case.input, reused=Reused("cache", 1, None, 0.25))

    assert rig.run(ScriptedTask(kept), budget=Budget(1.0, 0.4, 0.05)).status is Status.FINISHED


@pytest.mark.parametrize("part", ["task", "grader"])
def test_a_cost_that_is_unknown_ends_the_run(make_rig: MakeRig, part: str) -> None:
    rig = make_rig(n_cases=9, policy=ONE)

    async def judged(subject: Subject) -> tuple[Score, ...]:
        (score,) = await equals_expected(subject)
        return (replace(score, cost_usd=None if part == "grader" else 0.0),)

    rig.grade = judged
    task = ScriptedTask(echo if part == "task" else a_quarter)
    ending = rig.run(task, budget=Budget(1.0, 0.0, None))
    assert ending.reason is not None
    assert ending.reason.startswith("--max-cost $1.00 cannot be kept: what trial 1 of c0")
    assert len(rig.recorded) == 1


def test_a_trial_without_an_answer_counts_like_the_others(make_rig: MakeRig) -> None:
    rig = make_rig(n_cases=9, policy=Policy(concurrency=1, retries=0))

    async def answer(call: TaskCall) -> TaskResult:
        if len(task.calls) == 2:
            raise InfraError("down", kind="network")
        if len(task.calls) == 3:
            raise TaskError("refused")
        return await a_quarter(call)

    task = ScriptedTask(answer)
    rig.run(task, budget=Budget(1.25, 0.0, None))
    assert len(rig.recorded) == 5


def test_a_policy_comes_back_from_its_content() -> None:
    for policy in (Policy(), Policy(max_cost_usd=2.5)):
        assert stored_policy(policy.content()) == policy
