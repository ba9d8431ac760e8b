"""Attempts with feedback, and reruns of failures, inside a trial."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from tests.engine.conftest import FakeClock, ScriptedTask, equals_expected, no_crash

from fairtrial.analysis.verdict import score_of
from fairtrial.engine.attempts import Attempting, Confirming, History
from fairtrial.engine.feedback import BIT, Critic, Feedback, bit
from fairtrial.engine.plan import Policy
from fairtrial.engine.stop_rules import trial_cost
from fairtrial.engine.trial import TrialRunner
from fairtrial.model.case import Case, CaseKey
from fairtrial.model.errors import InfraError, TaskError
from fairtrial.model.grader import Grade, GraderSpec, Subject
from fairtrial.model.score import Score
from fairtrial.model.task import EarlierAttempt, TaskCall, TaskResult
from fairtrial.model.trial import Trial
from fairtrial.model.verdict import Verdict
from fairtrial.ports import Lease

CASE = Case("c1", "start", expected="right")


def runner(task: ScriptedTask) -> TrialRunner:
    return TrialRunner(
        tasks={"main": task},
        grade=equals_expected,
        policy=Policy(),
        seed=1,
        clock=FakeClock(),
        publish=lambda _: None,
        crash_log=no_crash,
    )


def answers(*outputs: str) -> ScriptedTask:
    given = iter(outputs)

    async def answer(_: TaskCall) -> TaskResult:
        return TaskResult(next(given), cost_usd=0.5)

    return ScriptedTask(answer)


def attempted(
    task: ScriptedTask, most: int = 3, feedback: Feedback = bit, history: History = "full"
) -> Trial:
    rules = Attempting(most, feedback, history)
    return asyncio.run(replace(runner(task), attempting=rules).run(Lease(CASE, "main", 1)))


def test_a_failed_trial_is_tried_again_until_it_passes() -> None:
    task = answers("a", "b", "right", "never asked")
    trial = attempted(task, most=4)
    assert [a.verdict for a in trial.attempts] == [Verdict.FAILED, Verdict.FAILED, Verdict.PASSED]
    assert [a.feedback for a in trial.attempts] == [BIT, BIT, None]
    assert [call.attempt for call in task.calls] == [1, 2, 3]


def test_the_verdict_the_output_and_the_cost_stay_the_first_attempts() -> None:
    trial = attempted(answers("a", "right"))
    assert (trial.verdict, trial.output, trial.cost_usd) == (Verdict.FAILED, "a", 0.5)
    assert trial_cost(trial) == 1.0


def test_a_trial_that_passes_at_once_has_one_attempt() -> None:
    trial = attempted(answers("right"))
    assert [(a.number, a.output) for a in trial.attempts] == [(1, "right")]


def test_there_are_never_more_attempts_than_allowed() -> None:
    trial = attempted(answers("a", "b", "c"), most=2)
    assert len(trial.attempts) == 2


@pytest.mark.parametrize(("history", "shown"), [("full", ["a", "b"]), ("last", ["b"])])
def test_an_attempt_sees_the_earlier_ones(history: History, shown: list[str]) -> None:
    task = answers("a", "b", "right")
    attempted(task, history=history)
    assert task.calls[0].earlier == ()
    assert task.calls[1].earlier == (EarlierAttempt("a", BIT),)
    assert [earlier.output for earlier in task.calls[2].earlier] == shown


def test_an_attempt_without_a_verdict_is_the_last() -> None:
    calls = 0

    async def answer(_: TaskCall) -> TaskResult:
        nonlocal calls
        calls += 1
        if calls == 1:
            return TaskResult("a")
        raise InfraError("down", kind="login")

    trial = attempted(ScriptedTask(answer), most=5)
    assert [a.verdict for a in trial.attempts] == [Verdict.FAILED, Verdict.UNDECIDED]


def test_a_task_that_crashes_is_told_and_tried_again() -> None:
    async def answer(call: TaskCall) -> TaskResult:
        if call.attempt == 1:
            raise TaskError("division by zero")
        return TaskResult("right")

    trial = attempted(ScriptedTask(answer))
    assert [a.verdict for a in trial.attempts] == [Verdict.FAILED, Verdict.PASSED]


def critic(reason: str) -> Callable[[Subject], Awaitable[tuple[Score, ...]]]:
    async def grade(_: Subject) -> tuple[Score, ...]:
        spec = GraderSpec("judge", "critic")
        score = score_of(spec, Grade(0.0, reason), 0.5)
        return (replace(score, cost_usd=0.25),)

    return grade


def test_a_critic_says_its_reason_and_its_cost_counts() -> None:
    trial = attempted(answers("a", "right"), feedback=Critic(critic("look at the units")))
    assert trial.attempts[0].feedback == f"{BIT}\n- look at the units"
    assert trial_cost(trial) == 1.25


def test_a_critic_that_names_the_answer_is_silenced() -> None:
    trial = attempted(answers("a", "right"), feedback=Critic(critic("say right instead")))
    assert trial.attempts[0].feedback == BIT


def test_a_critic_does_not_know_what_is_expected() -> None:
    seen: list[Subject] = []

    async def grade(subject: Subject) -> tuple[Score, ...]:
        seen.append(subject)
        return (score_of(GraderSpec("judge", "critic"), Grade(0.0, "no"), 0.5),)

    attempted(answers("a", "right"), feedback=Critic(grade))
    assert [(one.case.input, one.case.expected, one.output) for one in seen] == [
        ("start", None, "a")
    ]


def test_a_critic_that_cannot_answer_adds_nothing() -> None:
    async def grade(_: Subject) -> tuple[Score, ...]:
        return (Score("critic", None, passed=None, reason="the judge is down"),)

    trial = attempted(answers("a", "right"), feedback=Critic(grade))
    assert trial.attempts[0].feedback == BIT


def confirmed(task: ScriptedTask, of: bool = True) -> Trial:  # noqa: FBT001, FBT002  # a test's
    def applies(_: CaseKey) -> bool:
        return of

    rules = Confirming(2, applies)
    return asyncio.run(replace(runner(task), confirming=rules).run(Lease(CASE, "main", 1)))


@pytest.mark.parametrize(
    ("outputs", "reruns"),
    [
        (("right",), []),
        (("a", "right"), [Verdict.PASSED]),
        (("a", "b", "right"), [Verdict.FAILED, Verdict.PASSED]),
        (("a", "b", "c"), [Verdict.FAILED, Verdict.FAILED]),
    ],
)
def test_a_failure_is_run_again_until_it_does_not_fail(
    outputs: tuple[str, ...], reruns: list[Verdict]
) -> None:
    task = answers(*outputs)
    trial = confirmed(task)
    assert [rerun.verdict for rerun in trial.reruns] == reruns
    assert trial.output == outputs[0]
    assert [call.earlier for call in task.calls] == [()] * len(outputs)
    assert trial_cost(trial) == 0.5 * len(outputs)


def test_only_the_cases_that_are_asked_for_are_confirmed() -> None:
    assert confirmed(answers("a"), of=False).reruns == ()
