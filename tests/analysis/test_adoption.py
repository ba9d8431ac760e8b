"""May a race's winner be adopted, given the held-out cases and the guards?"""

from __future__ import annotations

import pytest

from fairtrial.analysis.cases import paired_trials
from fairtrial.analysis.paired import PairedComparison, paired
from fairtrial.analysis.run_delta import RunDelta
from fairtrial.analysis.sweep import adoption, no_race, start_won
from fairtrial.model.decision import Decision, Outcome
from fairtrial.model.errors import ExitCode
from fairtrial.stats.trials import from_counts

SHIP = Decision(Outcome.SHIP, ("it gains",), {"p": 0.01})
HOLD = Decision(Outcome.HOLD, ("it breaks",), {"p": 0.5}, ("use --trials 3",))
NOTHING = Decision(Outcome.NO_VERDICT, ("it stopped half-way",))


def held_out(solved: int) -> PairedComparison:
    a = from_counts([int(n < 10) for n in range(30)], [1] * 30)
    b = from_counts([int(n < solved) for n in range(30)], [1] * 30)
    return paired(paired_trials(a, b))


def test_a_better_winner_is_adopted_when_every_guard_ships() -> None:
    found = adoption(held_out(25), SHIP, {"faq@1": SHIP})
    assert (found.outcome, found.exit_code) == (Outcome.SHIP, ExitCode.OK)
    assert found.reasons[0] == (
        "it beats the start by 50.0 points on held-out cases, more than luck explains"
    )
    assert found.evidence["guards"]["faq@1"]["outcome"] == "ship"


@pytest.mark.parametrize(
    ("solved", "gate", "outcome", "says"),
    [
        (25, HOLD, Outcome.HOLD, "it beats the start"),
        (11, SHIP, Outcome.HOLD, "luck may explain"),
        (1, HOLD, Outcome.HOLD, "it loses to the start by 30.0 points"),
        (25, Decision(Outcome.TOO_FEW, ("5 cases",)), Outcome.TOO_FEW, "5 cases"),
        (25, NOTHING, Outcome.NO_VERDICT, "it stopped half-way"),
    ],
)
def test_what_does_not_ship_held_out_is_not_adopted(
    solved: int, gate: Decision, outcome: Outcome, says: str
) -> None:
    found = adoption(held_out(solved), gate, {})
    assert found.outcome is outcome
    assert says in found.reasons[0]


@pytest.mark.parametrize(
    ("guard", "outcome"), [(HOLD, Outcome.HOLD), (NOTHING, Outcome.NO_VERDICT)]
)
def test_a_guard_that_does_not_ship_blocks_adoption(guard: Decision, outcome: Outcome) -> None:
    found = adoption(held_out(25), SHIP, {"old@2": SHIP, "faq@1": guard})
    assert found.outcome is outcome
    assert found.reasons == tuple(f"guard faq@1: {why}" for why in guard.reasons)
    assert found.advice == guard.advice


def test_a_start_that_wins_stays() -> None:
    assert start_won("base").exit_code is ExitCode.NEGATIVE


def test_a_delta_without_an_interval_and_one_that_could_not_be_made() -> None:
    bare = RunDelta("exp_1", "before", estimate=-0.1, n=10, broken=1, verdict="inconclusive")
    assert bare.sentence() == (
        "vs before (exp_1): -10.0 points, 0 fixed, 1 broken of 10: luck may explain it"
    )
    assert "not compared: other graders" in RunDelta("e", "b", reason="other graders").sentence()


def test_a_race_of_which_nothing_is_known_is_no_verdict() -> None:
    found = no_race(("down", "gone"))
    assert (found.outcome, found.exit_code) == (Outcome.NO_VERDICT, ExitCode.NO_VERDICT)
    assert found.reasons == ("no race case has a verdict of down, gone: nothing was raced",)
    assert found.evidence["without_verdict"] == ["down", "gone"]
