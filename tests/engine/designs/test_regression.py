"""Stopping on a regression: only a confirmed one of a case that the baseline solved."""

from __future__ import annotations

import pytest
from tests.engine.designs.play import plan_of, play

from fairtrial.engine.designs.regression import CASES_A_STAGE, StopOnRegression
from fairtrial.engine.plan import Slot
from fairtrial.engine.stages import TrialOutcome
from fairtrial.model.case import CaseKey
from fairtrial.model.verdict import Verdict

FAILED, PASSED, UNDECIDED = Verdict.FAILED, Verdict.PASSED, Verdict.UNDECIDED
KEY = CaseKey("c003", "clean")


def verdict(slot: Slot, reruns: tuple[Verdict, ...]) -> TrialOutcome:
    if slot.case.id != KEY.case_id:
        return TrialOutcome(PASSED, 1.0)
    return TrialOutcome(FAILED, 0.0, reruns)


def run(reruns: tuple[Verdict, ...], solved: frozenset[CaseKey]) -> tuple[StopOnRegression, int]:
    design = StopOnRegression(plan_of(80, arms=("main",)), solved)
    played = play(design, lambda slot: verdict(slot, reruns))
    assert (played.reason is not None) == bool(design.regressed and len(played.slots) < 80)
    return design, len(played.slots)


def test_a_case_that_fails_three_times_ends_the_run_after_its_part() -> None:
    design, n = run((FAILED, FAILED), frozenset({KEY}))
    assert set(design.regressed) == {KEY}
    assert n < 80
    assert n % CASES_A_STAGE == 0


@pytest.mark.parametrize(
    "reruns", [(), (PASSED,), (FAILED, PASSED), (FAILED,), (FAILED, UNDECIDED)]
)
def test_anything_less_is_no_regression(reruns: tuple[Verdict, ...]) -> None:
    design, n = run(reruns, frozenset({KEY}))
    assert design.regressed == {}
    assert n == 80


def test_a_case_that_the_baseline_did_not_solve_cannot_regress() -> None:
    design, n = run((FAILED, FAILED), frozenset({CaseKey("c004", "clean")}))
    assert design.regressed == {}
    assert n == 80


def test_the_reason_names_the_case() -> None:
    design = StopOnRegression(plan_of(80, arms=("main",)), frozenset({KEY}))
    reason = play(design, lambda slot: verdict(slot, (FAILED, FAILED))).reason
    assert reason is not None
    assert "c003" in reason
