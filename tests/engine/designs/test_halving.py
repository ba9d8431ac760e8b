"""The race: fresh cases every round, the better half stays, ties go to the earlier arm."""

from __future__ import annotations

import pytest
from tests.engine.designs.play import passed, plan_of, play

from fairtrial.engine.designs.halving import Halving
from fairtrial.engine.plan import Slot
from fairtrial.model.verdict import Verdict
from fairtrial.stats.halving import halving_plan

ARMS = ("start", "worse", "best", "same")


def race(verdict_of: dict[str, float]) -> Halving:
    design = Halving(plan_of(60, arms=ARMS), halving_plan(len(ARMS), 96))

    def verdict(slot: Slot) -> Verdict:
        return passed(int(slot.case.id[1:]) % 10 < 10 * verdict_of[slot.arm])

    played = play(design, verdict)
    assert len(played.slots) == 96
    return design


def test_the_better_half_stays_and_the_best_wins() -> None:
    design = race({"start": 0.5, "worse": 0.1, "best": 1.0, "same": 0.5})
    assert [set(standing.kept) for standing in design.standings] == [{"start", "best"}, {"best"}]
    assert design.winner == "best"
    assert [standing.cases for standing in design.standings] == [12, 36]


def test_a_tie_goes_to_the_start() -> None:
    assert race(dict.fromkeys(ARMS, 0.5)).winner == "start"


def test_every_arm_of_a_round_runs_the_same_fresh_cases() -> None:
    design = Halving(plan_of(60, arms=ARMS), halving_plan(len(ARMS), 96))
    played = play(design, lambda _: Verdict.PASSED)
    seen: set[str] = set()
    for stage in played.stages:
        by_arm = [{s.case.id for s in stage if s.arm == arm} for arm in {s.arm for s in stage}]
        assert all(cases == by_arm[0] for cases in by_arm)
        assert not seen & by_arm[0]
        seen |= by_arm[0]


def test_an_arm_without_a_verdict_comes_last() -> None:
    design = Halving(plan_of(60, arms=ARMS), halving_plan(len(ARMS), 96))
    play(design, lambda s: Verdict.UNDECIDED if s.arm == "start" else passed(s.arm == "same"))
    assert design.winner == "same"
    assert design.standings[0].rates["start"] is None
    assert design.standings[0].decided == {"start": 0, "worse": 12, "best": 12, "same": 12}


def test_there_is_no_winner_before_the_last_round() -> None:
    design = Halving(plan_of(60, arms=ARMS), halving_plan(len(ARMS), 96))
    assert design.winner is None


@pytest.mark.parametrize("trials", [1, 3])
def test_a_case_counts_once_however_often_it_is_run(trials: int) -> None:
    design = Halving(plan_of(60, arms=ARMS, trials=trials), halving_plan(len(ARMS), 96))
    play(design, lambda s: passed(s.arm != "worse"))
    assert design.standings[0].rates == {"start": 1.0, "worse": 0.0, "best": 1.0, "same": 1.0}
