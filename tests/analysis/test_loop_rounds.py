"""The rounds of a loop, paired on shared cases."""

from __future__ import annotations

import pytest

from fairtrial.analysis.loop_rounds import Loop, Version, loop_of
from fairtrial.analysis.plateau import LoopRound, PlateauRules, plateau
from fairtrial.model.decision import Outcome

GREEDY = PlateauRules(eps=0.05)
CHAIN = PlateauRules(eps=0.05, mode="chain")


def version(number: int, passed: int, cases: range = range(20), **more: object) -> Version:
    counts = {n: (int(n < passed), 1) for n in cases}
    return Version(f"exp_{number}", f"v{number}", counts, **more)  # type: ignore[arg-type]


def loop(*passed: int, rules: PlateauRules = GREEDY) -> Loop:
    return loop_of([version(k, n) for k, n in enumerate(passed)], rules)


@pytest.mark.parametrize("rules", [GREEDY, CHAIN], ids=["greedy", "chain"])
def test_on_the_same_cases_it_is_the_plateau_of_the_scores(rules: PlateauRules) -> None:
    passed = (8, 10, 9, 10, *[10] * 9)
    expected = plateau([LoopRound(n / 20) for n in passed], rules)
    found = loop(*passed, rules=rules).decision
    assert found.outcome is expected.outcome
    assert found.evidence["gains"] == pytest.approx(expected.evidence["gains"])
    assert found.evidence["evidence"] == pytest.approx(expected.evidence["evidence"])
    assert found.evidence["ship_round"] == expected.evidence["ship_round"]


def test_a_round_is_paired_with_what_the_loop_goes_on_from() -> None:
    rounds = loop(8, 10, 9, 12).rounds
    assert [one.against for one in rounds] == [None, "exp_0", "exp_1", "exp_1"]
    assert [one.kept for one in rounds] == [True, True, False, True]
    assert [one.gain for one in rounds[1:]] == pytest.approx([0.1, 0.0, 0.1])
    assert rounds[2].change == pytest.approx(-0.05)


def test_gains_are_those_on_shared_cases() -> None:
    # The second version also ran ten cases that nobody solves.
    first, second = version(0, 10), version(1, 10, range(5, 30))
    (_, found) = loop_of([first, second], CHAIN).rounds
    assert (found.shared, found.change) == (15, 0.0)


def test_a_round_with_too_few_shared_cases_is_left_out_with_its_reason() -> None:
    found = loop_of([version(0, 5), version(1, 120, range(15, 120)), version(2, 9)], GREEDY)
    assert found.rounds[1].left_out == "only 5 of its 105 cases are in v0 too"
    assert found.rounds[2].against == "exp_0"
    assert found.decision.outcome is Outcome.TOO_FEW


def test_what_cannot_be_used_is_told_and_the_next_one_is_the_baseline() -> None:
    found = loop_of([version(0, 5, unusable="it is interrupted"), version(1, 9)], GREEDY)
    assert found.rounds[0].left_out == "it is interrupted"
    assert found.ship is not None
    assert (found.ship.name, found.over_baseline) == ("v1", None)
    assert loop_of([version(0, 0, range(0))], GREEDY).ship is None


def test_somebody_may_say_what_was_kept() -> None:
    versions = [version(0, 8), version(1, 10, accepted=False), version(2, 7, accepted=True)]
    found = loop_of(versions, GREEDY)
    assert [one.gain for one in found.rounds[1:]] == [0.0, 0.0]
    assert found.ship is versions[2]


def test_a_chain_ships_its_highest_and_says_how_far_above_the_baseline() -> None:
    found = loop(4, 14, 10, 14, rules=CHAIN)
    assert found.ship is not None
    assert found.ship.name == "v1"
    assert found.over_baseline is not None
    assert found.over_baseline.difference.estimate == pytest.approx(0.5)
    assert found.over_baseline.interval is not None


def test_a_chain_too_goes_on_without_what_somebody_rejected() -> None:
    versions = [version(0, 8), version(1, 18, accepted=False), version(2, 10)]
    found = loop_of(versions, CHAIN)
    assert [one.kept for one in found.rounds] == [True, False, True]
    assert [one.gain for one in found.rounds[1:]] == pytest.approx([0.0, 0.1])
    assert found.rounds[2].against == "exp_0"
    assert found.ship is not None
    assert found.ship.name == "v2"
