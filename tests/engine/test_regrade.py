"""Stored trials, graded again: what changes, what stays, and what a crash becomes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from fairtrial.analysis.grader_noise import grader_noise, no_noise, verdict_noise
from fairtrial.analysis.regrade import has_output, regrade_of
from fairtrial.engine.regrade import Regrader, StoredLease, stored_leases
from fairtrial.model.case import Case, CaseKey
from fairtrial.model.grader import Subject
from fairtrial.model.score import Score
from fairtrial.model.trial import Trial
from fairtrial.model.verdict import Cause, Verdict
from fairtrial.ports import Lease
from fairtrial.testing.store.facts import a_trial

CASE = Case("case-1", 1)
Grade = Callable[[Subject], Awaitable[tuple[Score, ...]]]


async def fails(_: Subject) -> tuple[Score, ...]:
    return (Score("strict", 0.0, passed=False, reason="too loose"),)


async def crashes(_: Subject) -> tuple[Score, ...]:
    raise KeyError("a defect")


def regraded(grade: Grade, trial: Trial, k: int = 1) -> tuple[Trial, Regrader]:
    regrader = Regrader(grade, lambda _: "crashes.log", k)
    lease = StoredLease(CASE, trial.key.arm, trial.key.trial, trial)
    return asyncio.run(regrader.run(lease)), regrader


def test_scores_are_new_and_the_rest_stays() -> None:
    before = a_trial(cost_usd=0.5, duration_s=3.0)
    after, regrader = regraded(fails, before)
    assert (after.verdict, after.reason) == (Verdict.FAILED, "strict: too loose")
    kept = ("key", "output", "cost_usd", "duration_s", "seed", "started_at", "tries")
    assert [getattr(after, name) for name in kept] == [getattr(before, name) for name in kept]
    assert regrader.passes == {}


def test_a_crash_while_grading_is_a_defect_and_no_verdict() -> None:
    after, _ = regraded(crashes, a_trial())
    assert (after.verdict, after.cause) == (Verdict.UNDECIDED, Cause.INTERNAL)
    assert "a defect" in str(after.reason)
    assert after.at_fault == "platform"


@pytest.mark.parametrize(
    ("cause", "output", "there"),
    [
        (None, "x", True),
        (None, None, True),
        (Cause.GRADER, "x", True),
        (Cause.INTERNAL, "x", True),
        (Cause.INTERNAL, None, False),
        (Cause.TASK, "x", False),
        (Cause.LIMIT, "x", False),
        (Cause.INFRA, None, False),
        (Cause.UNDECIDABLE, None, False),
    ],
)
def test_only_what_was_judged_has_an_output(
    cause: Cause | None, output: str | None, *, there: bool
) -> None:
    trial = a_trial(cause=cause, output=output)
    assert has_output(trial) is there
    after, _ = regraded(fails, trial)
    assert bool(after.scores) is there
    if not there:
        assert (after.verdict, after.reason) == (trial.verdict, trial.reason)


def test_several_rounds_are_kept_and_the_first_makes_the_verdict() -> None:
    answers = iter([1.0, 0.0, 1.0])

    async def moody(_: Subject) -> tuple[Score, ...]:
        value = next(answers)
        return (Score("moody", value, passed=value > 0),)

    after, regrader = regraded(moody, a_trial(verdict="failed"), k=3)
    assert after.verdict is Verdict.PASSED
    (rounds,) = regrader.passes.values()
    assert [one.values["moody"] for one in rounds] == [1.0, 0.0, 1.0]


def test_a_lease_without_a_trial_is_a_defect() -> None:
    regrader = Regrader(fails, lambda _: "")
    with pytest.raises(TypeError):
        asyncio.run(regrader.run(Lease(CASE, "main", 1)))


def test_trials_of_a_row_share_its_case() -> None:
    loaded: list[CaseKey] = []

    def load(key: CaseKey) -> Case:
        loaded.append(key)
        return Case(key.case_id, 1)

    trials = [a_trial("a", 1), a_trial("a", 2), a_trial("b", 1)]
    leases = list(stored_leases(trials, load))
    assert [lease.origin for lease in leases] == trials
    assert [lease.key for lease in leases] == [trial.key for trial in trials]
    assert [key.case_id for key in loaded] == ["a", "b"]


def test_flips_and_graders_that_could_not_answer_are_told() -> None:
    lost = (Score("judge", None, None, "no answer"),)
    pairs = [
        (a_trial("a"), a_trial("a", verdict="failed")),
        (a_trial("b"), a_trial("b", verdict="undecided", scores=lost)),
        (a_trial("c", cause=Cause.TASK), a_trial("c", cause=Cause.TASK, scores=())),
        (a_trial("d"), a_trial("d")),
    ]
    found = regrade_of(pairs)
    assert (found.graded, found.kept) == (3, 1)
    assert [flip.key.case_id for flip in found.flips] == ["a", "b"]
    assert [(u.grader, u.missing, u.total, u.reason) for u in found.unable] == [
        ("judge", 1, 1, "no answer")
    ]


def test_the_noise_of_a_grader_is_how_often_two_rounds_differ() -> None:
    # Of the pairs of rounds, 2 in 3 differ for the first output, none for the second.
    found = grader_noise("judge", [[1.0, 0.0, 1.0], [0.8, 0.8, 0.8], [None, 1.0, 1.0]], 0.5)
    assert found.outputs == 2
    assert found.flip_rate == pytest.approx(1 / 3)
    assert found.spread == pytest.approx((1 / 6) ** 0.5)
    assert verdict_noise([[True, False], [True, None]]).flip_rate == pytest.approx(1.0)
    for unknown in (grader_noise("j", [[None, 1.0]], 0.5), grader_noise("j", [[1.0]], 0.5)):
        assert (unknown.flip_rate, unknown.spread) == (None, None)
    assert verdict_noise([]).flip_rate is None
    assert (no_noise("exact").fixed, no_noise("exact").flip_rate) == (True, 0.0)
