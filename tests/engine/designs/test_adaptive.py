"""Adaptive samples: who gets a third trial."""

from __future__ import annotations

from collections import Counter

from tests.engine.designs.play import passed, plan_of, play

from fairtrial.engine.designs.adaptive import MOST_TRIALS, Adaptive
from fairtrial.engine.plan import Slot
from fairtrial.model.verdict import Verdict

SCRIPTS = {
    "c000": [Verdict.PASSED, Verdict.PASSED],
    "c001": [Verdict.FAILED, Verdict.FAILED],
    "c002": [Verdict.PASSED, Verdict.FAILED, Verdict.PASSED],
    "c003": [Verdict.FAILED, Verdict.PASSED, Verdict.FAILED],
    "c004": [Verdict.PASSED, Verdict.UNDECIDED],
}


def test_only_cases_whose_two_trials_disagree_get_a_third() -> None:
    played = play(
        Adaptive(plan_of(5, arms=("main",), trials=MOST_TRIALS)),
        lambda slot: SCRIPTS[slot.case.id][slot.trial - 1],
    )
    assert Counter(slot.case.id for slot in played.slots) == {
        "c000": 2,
        "c001": 2,
        "c002": 3,
        "c003": 3,
        "c004": 2,
    }


def test_each_arm_is_sampled_by_its_own_outcomes() -> None:
    def verdict(slot: Slot) -> Verdict:
        return passed(slot.arm == "a" or slot.trial == 1)

    played = play(Adaptive(plan_of(3, trials=MOST_TRIALS)), verdict)
    assert Counter(slot.arm for slot in played.stages[1]) == {"b": 3}
