"""What a comparison decides."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats
from tests.analysis.comparing.conftest import EXACT, arm, cases, compared, paired, side

from fairtrial.analysis.comparing.compare import Compare, compare
from fairtrial.analysis.comparing.deciding import combined, gate, margin
from fairtrial.analysis.comparing.needed import more_fixes_needed
from fairtrial.analysis.gate.ship import ShipRules
from fairtrial.model.case import CaseKey
from fairtrial.model.decision import Decision, Outcome
from fairtrial.model.errors import ExitCode
from fairtrial.model.experiment import Status, Totals
from fairtrial.model.verdict import Cause
from fairtrial.stats.gate.cross_fitted import cross_fitted_gain
from fairtrial.stats.trials import from_counts

RULES = ShipRules()


def single(fixed: int, broken: int, kept: int) -> Compare:
    before = [0] * fixed + [1] * broken + [1] * kept
    after = [1] * fixed + [0] * broken + [1] * kept
    return compared(cases(before, 1), cases(after, 1))


def test_a_run_that_always_crashed_decides_nothing() -> None:
    before, after = cases([0] * 30, 1), cases([1] * 30, 1)
    crashed = side("base", status=Status.FINISHED)
    totals = Totals(failed=30, causes={Cause.TASK: 30})
    crashed = replace(crashed, state=replace(crashed.state, totals=totals))
    found = compare(crashed, side("cand"), paired(arm(before), arm(after)))
    what = "no grader judged any output of base: its task failed in every trial"
    assert found.comparison.problems[0].what == what
    assert found.comparison.sentence == (
        f"No verdict on cand against base: {what}, so a gap says nothing about quality."
    )
    for decision in (gate(found, RULES), margin(found, 0.1)):
        assert decision.outcome is Outcome.NO_VERDICT
        assert decision.reasons == (what,)


@pytest.mark.parametrize(
    ("fixed", "broken", "outcome"),
    [(6, 0, Outcome.SHIP), (5, 0, Outcome.HOLD), (10, 1, Outcome.SHIP), (9, 1, Outcome.HOLD)],
)
def test_single_trials_ship_by_the_discordant_cases(
    fixed: int, broken: int, outcome: Outcome
) -> None:
    decision = gate(single(fixed, broken, 30), RULES)
    assert decision.outcome is outcome
    law = scipy_stats.binom(fixed + broken, 2 / 3)
    assert decision.evidence["p"] == pytest.approx(law.sf(fixed - 1) - 0.5 * law.pmf(fixed))
    assert decision.evidence["break_share"] == pytest.approx(broken / (broken + 30))
    if outcome is Outcome.HOLD:
        need = {0: 6, 1: 10}[broken]
        assert any(f"you would need {need} fixed" in text for text in decision.advice)


def test_too_many_breaks_hold_whatever_was_fixed() -> None:
    decision = gate(single(40, 5, 30), RULES)
    assert decision.evidence["p"] < 0.05
    assert decision.outcome is Outcome.HOLD
    assert decision.evidence["broken_cases"] == [f"c{n:04}" for n in range(40, 45)]


def test_several_trials_are_cross_fitted() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 4, 50), rng.integers(1, 4, 50)
    decision = gate(compared(cases(a.tolist(), 3), cases(b.tolist(), 3)), RULES)
    rate_a, rate_b = a / 3, b / 3
    square = a * (a - 1) / 6
    v = (rate_b - rate_a) + (rate_a * rate_b - square)
    padded = np.concatenate([v, [1.0, -2.0]])
    weights = np.concatenate([np.ones(50), [0.5, 0.5]])
    mean = np.average(padded, weights=weights)
    t = mean / np.sqrt(np.average((padded - mean) ** 2, weights=weights) / 51)
    assert decision.evidence["p"] == pytest.approx(scipy_stats.t.sf(t, 49))
    share = (rate_a * (1 - rate_b)).sum() / rate_a.sum()
    floor = (rate_a - square).sum() / rate_a.sum()
    floor_b = (rate_b - b * (b - 1) / 6).sum() / rate_b.sum()
    assert decision.evidence["break_share"] == pytest.approx(share)
    assert decision.evidence["excess_break_share"] == pytest.approx(share - min(floor, floor_b))
    assert decision.evidence["coverage"] == 1.0


def test_a_held_change_is_told_how_many_more_fixes_it_needs() -> None:
    before, after = [0] * 20 + [3] * 20, [3] * 2 + [0] * 18 + [3] * 20
    found = compared(cases(before, 3), cases(after, 3))
    decision = gate(found, RULES)
    assert decision.outcome is Outcome.HOLD
    (text,) = [text for text in decision.advice if "you would need" in text]
    more = int(text.split()[3])
    baseline = from_counts(before, [3] * 40)
    for extra, passes in ((more - 1, False), (more, True)):
        better = [3] * (2 + extra) + [0] * (18 - extra) + [3] * 20
        test = cross_fitted_gain(baseline, from_counts(better, [3] * 40))
        assert (test.p <= 0.05) is passes
    assert more_fixes_needed(baseline, from_counts([3] * 40, [3] * 40), RULES) == 0
    solved = from_counts([3] * 20 + [1] * 20, [3] * 40)
    assert more_fixes_needed(solved, from_counts([0] * 20 + [3] * 20, [3] * 40), RULES) is None


@pytest.mark.parametrize(
    ("passes", "decided", "text"),
    [
        ([0, 0, 0], 1, "3 cases are too few"),
        ([0], 1, "1 case is too few: with none"),
        ([0], 3, "one case is too few"),
    ],
)
def test_too_few_cases_decide_nothing(passes: list[int], decided: int, text: str) -> None:
    fixed = cases([decided] * len(passes), decided)
    decision = gate(compared(cases(passes, decided), fixed), RULES)
    assert decision.outcome is Outcome.TOO_FEW
    assert decision.exit_code is ExitCode.TOO_FEW
    assert text in decision.reasons[0]


def test_all_ties_hold() -> None:
    same = cases([1, 0] * 20, 1)
    decision = gate(compared(same, same), RULES)
    assert decision.outcome is Outcome.HOLD
    assert "No case was fixed or broken" in decision.reasons[0]


ROWS = paired(arm(cases([0] * 20, 1)), arm(cases([1] * 20, 1)))


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"policy": {"trial_timeout": 5.0}}, "other time limit"),
        ({"spec": {"graders": []}}, "other graders"),
        ({"status": Status.INTERRUPTED}, "cand is interrupted"),
        ({"status": Status.RUNNING}, "cand is running"),
    ],
)
def test_a_gate_refuses_what_is_not_comparable(changes: dict[str, Any], text: str) -> None:
    found = compare(side("base"), side("cand", **changes), ROWS)
    for decision in (gate(found, RULES), margin(found, 0.05)):
        assert decision.outcome is Outcome.NO_VERDICT
        assert decision.exit_code is ExitCode.NO_VERDICT
        assert text in decision.reasons[0]


def test_force_does_not_make_a_part_shippable() -> None:
    part = side("cand", status=Status.INTERRUPTED)
    found = compare(side("base"), part, ROWS, force=True)
    assert gate(found, RULES).outcome is Outcome.NO_VERDICT
    assert margin(found, 0.05).outcome is Outcome.SHIP  # asked for by force


def test_a_candidate_that_ran_only_the_easy_cases_does_not_ship() -> None:
    rows = paired(arm(cases([0] * 20, 1)), arm(cases([1] * 19, 1)))
    decision = gate(compare(side("base"), side("cand"), rows), RULES)
    assert decision.outcome is Outcome.NO_VERDICT
    assert "ran only a part: 1 of 20 cases" in decision.reasons[0]


def test_a_case_that_left_the_dataset_is_covered_by_the_floor() -> None:
    newer = side("cand", dataset_number=2)
    rows = paired(arm(cases([0] * 20, 1)), arm(cases([1] * 19, 1)))
    assert gate(compare(side("base"), newer, rows), RULES).outcome is Outcome.SHIP
    rows = paired(arm(cases([0] * 20, 1)), arm(cases([1] * 17, 1)))
    decision = gate(compare(side("base"), newer, rows), RULES)
    assert decision.outcome is Outcome.NO_VERDICT
    assert "only 85 % of the cases of base" in decision.reasons[0]


def test_nothing_decided_is_no_verdict() -> None:
    found = compared(cases([0], 0), cases([0], 0))
    decision = gate(found, RULES)
    assert (decision.outcome, decision.reasons) == (
        Outcome.NO_VERDICT,
        ("no case has a verdict on both sides",),
    )
    assert found.comparison.sentence.startswith("No verdict: no case has a verdict")


def test_the_run_that_selected_the_cases_holds() -> None:
    chosen = side("cand", spec={"graders": [EXACT], "failing": "exp_base"})
    found = compare(side("base"), chosen, ROWS)
    for decision in (gate(found, RULES), margin(found, 0.05)):
        assert decision.outcome is Outcome.HOLD
        assert "would pass by luck" in decision.reasons[0]
        assert "run base on the same cases again" in decision.advice[0]


def test_ties_do_not_pass_a_margin_for_free() -> None:
    same = cases([1] * 20, 1)
    decision = margin(compared(same, same), 0.05)
    assert decision.outcome is Outcome.HOLD
    # Tango's interval of twenty ties
    assert decision.evidence["lower"] == pytest.approx(-0.161, abs=5e-4)
    many = cases([1] * 200, 1)
    assert margin(compared(many, many), 0.05).outcome is Outcome.SHIP


def test_one_case_is_too_few_for_a_margin() -> None:
    assert margin(compared(cases([3], 3), cases([3], 3)), 0.05).outcome is Outcome.TOO_FEW


def test_several_decisions_are_as_strict_as_the_strictest() -> None:
    def of(outcome: Outcome) -> Decision:
        return Decision(outcome, (outcome.value,), {outcome.value: 1}, (outcome.value,))

    assert combined(()) is None
    assert combined((of(Outcome.SHIP),)) == of(Outcome.SHIP)
    both = combined((of(Outcome.SHIP), of(Outcome.HOLD)))
    assert both
    assert both.outcome is Outcome.HOLD
    assert both.reasons == ("hold", "ship")  # the one that decided comes first
    assert both.evidence == {"ship": 1, "hold": 1}
    for strict, milder in (
        (Outcome.NO_VERDICT, Outcome.TOO_FEW),
        (Outcome.TOO_FEW, Outcome.HOLD),
        (Outcome.SHIP, Outcome.SHIP),
    ):
        found = combined((of(milder), of(strict)))
        assert found
        assert found.outcome is strict


def test_every_outcome_has_an_exit_code() -> None:
    codes = {outcome: Decision(outcome, ()).exit_code for outcome in Outcome}
    assert codes == {
        Outcome.SHIP: 0,
        Outcome.CONTINUE: 0,
        Outcome.HOLD: 1,
        Outcome.TOO_FEW: 2,
        Outcome.STOP: 3,
        Outcome.NO_VERDICT: 4,
    }


def test_what_the_platform_left_undecided_is_no_gap_in_the_coverage() -> None:
    before = cases([0] * 8 + [1] * 32, 1)
    after = dict.fromkeys(before, (1, 1)) | {f"c{n:04}": (0, 0) for n in range(30, 40)}
    found = compared(before, after)
    lost = [CaseKey(f"c{n:04}") for n in range(30, 40)]
    refused = gate(found, RULES)
    assert refused.outcome is Outcome.NO_VERDICT
    assert refused.evidence["coverage"] == 0.75
    half = gate(found, RULES, (frozenset(lost), frozenset(lost[:5])))
    assert half.outcome is Outcome.NO_VERDICT
    assert "86 % of the cases of base" in half.reasons[0]
    assert "5 that the platform left undecided do not count" in half.reasons[0]
    ships = gate(found, RULES, (frozenset(), frozenset(lost)))
    assert ships.outcome is Outcome.SHIP
    assert (ships.evidence["coverage"], ships.evidence["platform_rows"]) == (1.0, 10)
