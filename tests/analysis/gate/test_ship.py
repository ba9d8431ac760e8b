import pytest

from fairtrial.analysis.gate.ship import ShipRules, Validity, ship_gate
from fairtrial.model.decision import Outcome
from fairtrial.model.errors import ExitCode
from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.trials import TrialSums, from_counts


def _arms(both: int, fixed: int, broken: int, neither: int, k: int) -> tuple[TrialSums, TrialSums]:
    a = [k] * both + [0] * fixed + [k] * broken + [0] * neither
    b = [k] * both + [k] * fixed + [0] * broken + [0] * neither
    many = [k] * len(a)
    return from_counts(a, many), from_counts(b, many)


def test_enough_fixes_and_few_breaks_ship() -> None:
    decision = ship_gate(*_arms(40, 10, 1, 9, 1))
    assert decision.outcome is Outcome.SHIP
    assert decision.exit_code is ExitCode.OK
    assert decision.evidence["fixed"] == 10
    assert decision.evidence["p"] <= 0.05
    assert decision.evidence["break_share"] == pytest.approx(1 / 41)
    assert decision.advice == ()


def test_too_few_fixes_hold_and_say_how_many_would_do() -> None:
    decision = ship_gate(*_arms(40, 9, 1, 9, 1), case_ids=[f"c{k}" for k in range(59)])
    assert decision.outcome is Outcome.HOLD
    assert decision.exit_code is ExitCode.NEGATIVE
    assert decision.advice == ("with 1 broken you would need 10 fixed, there are 9",)
    assert decision.evidence["broken_cases"] == ["c49"]


def test_too_many_breaks_hold_whatever_was_fixed() -> None:
    decision = ship_gate(*_arms(20, 60, 5, 0, 1))
    assert decision.evidence["p"] <= 0.05
    assert decision.outcome is Outcome.HOLD


def test_the_bound_of_the_share_is_a_stricter_rule() -> None:
    arms = _arms(20, 10, 0, 9, 1)
    assert ship_gate(*arms).outcome is Outcome.SHIP
    strict = ShipRules(bound_breaks=True)
    assert ship_gate(*arms, rules=strict).outcome is Outcome.HOLD
    assert ship_gate(*_arms(29, 10, 0, 9, 1), rules=strict).outcome is Outcome.SHIP


def test_nothing_changed_holds() -> None:
    for k in (1, 3):
        assert ship_gate(*_arms(30, 0, 0, 10, k)).outcome is Outcome.HOLD


def test_a_baseline_that_solved_nothing_cannot_break() -> None:
    for k in (1, 3):
        decision = ship_gate(*_arms(0, 8, 0, 4, k))
        assert decision.outcome is Outcome.SHIP
        assert decision.evidence["break_share"] is None


def test_several_trials_use_the_cross_fitted_test() -> None:
    decision = ship_gate(*_arms(30, 12, 0, 10, 3))
    assert decision.outcome is Outcome.SHIP
    assert decision.evidence["method"] == "cross-fitted net gain"
    assert decision.evidence["excess_break_share"] == 0.0
    clustered = ship_gate(*_arms(30, 12, 0, 10, 3), clusters=[k // 6 for k in range(52)])
    assert clustered.evidence["clusters"] == 9
    held = ship_gate(*_arms(30, 12, 8, 10, 3))
    assert held.outcome is Outcome.HOLD
    assert held.evidence["excess_break_share"] > 0.1


def test_one_arm_with_single_trials_falls_back_to_flips() -> None:
    a, _ = _arms(30, 12, 0, 10, 3)
    _, b = _arms(30, 12, 0, 10, 1)
    assert ship_gate(a, b).evidence["method"] == "net gain"


def test_a_flaky_baseline_with_one_candidate_trial_gets_advice() -> None:
    a = from_counts([1, 2] * 20, [3] * 40)
    b = from_counts([1, 0] * 20, [1] * 40)
    advice = ship_gate(a, b).advice
    assert any("run three" in text for text in advice)


@pytest.mark.parametrize(
    ("validity", "word"),
    [
        (Validity(finished=False), "not finished"),
        (Validity(same_dataset=False), "dataset"),
        (Validity(same_graders=False), "graders"),
        (Validity(selected_on_baseline=True), "selected"),
        (Validity(clamped=True), "cut"),
    ],
)
def test_an_unfair_comparison_holds_and_says_why_first(validity: Validity, word: str) -> None:
    decision = ship_gate(*_arms(40, 10, 1, 9, 1), validity=validity)
    assert decision.outcome is Outcome.HOLD
    assert word in decision.reasons[0]


def test_no_shared_case_is_too_few() -> None:
    decision = ship_gate(from_counts([], []), from_counts([], []))
    assert decision.outcome is Outcome.TOO_FEW
    assert decision.exit_code is ExitCode.TOO_FEW


@pytest.mark.parametrize(
    ("rules", "argument"),
    [
        ({"harm_weight": 0.0}, "harm_weight"),
        ({"break_limit": 1.5}, "break_limit"),
        ({"alpha": 0.5}, "alpha"),
    ],
)
def test_rules_are_checked(rules: dict[str, float], argument: str) -> None:
    with pytest.raises(ArgumentError, match=f"^{argument}: "):
        ShipRules(**rules)  # type: ignore[arg-type]


def test_large_counts_are_written_as_elsewhere() -> None:
    held = ship_gate(*_arms(30_000, 2_000, 1_500, 0, 1))
    assert held.outcome is Outcome.HOLD
    words = " ".join((*held.reasons, *held.advice))
    assert "2,000 fixed against 1,500 broken" in words
    assert "1,500 of the 31,500 cases that the baseline solved" in words
    assert "with 1,500 broken you would need 3,159 fixed, there are 2,000" in words
