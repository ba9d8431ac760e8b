"""Pairwise judges: their counts, agreement and calibration against independent software."""

from __future__ import annotations

import random

import numpy as np
import pytest
from scipy.stats import binomtest
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa
from statsmodels.stats.proportion import proportion_confint

from fairtrial.analysis.labels import match_labels
from fairtrial.analysis.pairwise_judging import People, judged_pairs, judges_gate
from fairtrial.analysis.winner_calibration import calibrate_winners
from fairtrial.model.call import ProviderSpec
from fairtrial.model.case import CaseKey
from fairtrial.model.decision import Outcome
from fairtrial.model.errors import UsageError
from fairtrial.model.label import WinnerLabel
from fairtrial.model.pairwise import Answer, JudgedPair, PairwiseSpec, Winner

WINNERS: tuple[Winner, ...] = ("a", "b", "tie")


def spec(name: str = "j") -> PairwiseSpec:
    return PairwiseSpec(name, "the better one", ProviderSpec("fake"))


def answered(n: int, first: Winner | None, second: Winner | None) -> JudgedPair:
    one, two = (
        Answer(winner, "why" if winner else "no answer", calls=1, cost_usd=0.5)
        for winner in (first, second)
    )
    return JudgedPair(CaseKey(f"c{n}"), one, two)


def drawn(seed: int, n: int = 60) -> list[JudgedPair]:
    draws = random.Random(seed)  # noqa: S311
    return [answered(k, draws.choice(WINNERS), draws.choice(WINNERS)) for k in range(n)]


def test_wins_losses_and_position_bias_are_those_of_the_answers() -> None:
    pairs = [
        *(answered(n, "b", "b") for n in range(9)),
        *(answered(n, "a", "a") for n in range(9, 11)),
        *(answered(n, "a", "b") for n in range(11, 16)),  # the first slot, twice
        answered(16, "b", "a"),
        answered(17, "tie", "tie"),
        answered(18, None, "b"),
    ]
    (finding,) = judged_pairs([(spec(), pairs)]).findings
    found = finding.found
    assert found is not None
    assert (found.wins, found.losses, found.ties, found.n) == (9, 2, 7, 18)
    assert (found.both_first, found.both_second) == (5, 1)
    assert found.consistent == pytest.approx(12 / 18)
    assert finding.undecided == {"no answer": 1}
    assert (finding.judged, finding.calls, finding.kept, finding.cost_usd) == (18, 38, 0, 19.0)
    # binomtest(9, 11).pvalue is two-sided and exact; the mid-p takes half of the observed off.
    exact, point = binomtest(9, 11).pvalue, 2 * 55 * 0.5**11
    assert found.test.p_exact == pytest.approx(exact)
    assert found.test.p_mid == pytest.approx(exact - point / 2)


def test_what_was_kept_costs_nothing_and_an_unknown_cost_stays_unknown() -> None:
    kept = JudgedPair(CaseKey("a"), Answer("b", "x"), Answer("b", "x"))
    unknown = JudgedPair(CaseKey("b"), Answer("b", "x", calls=1), Answer("b", "x"))
    (finding,) = judged_pairs([(spec(), [kept])]).findings
    assert (finding.calls, finding.kept, finding.cost_usd) == (0, 2, 0.0)
    (finding,) = judged_pairs([(spec(), [kept, unknown])]).findings
    assert (finding.calls, finding.kept, finding.cost_usd) == (1, 3, None)


def test_the_agreement_of_several_judges_is_that_of_statsmodels() -> None:
    judges = [(spec(name), drawn(seed)) for seed, name in enumerate("xyz")]
    agreement = judged_pairs(judges).agreement
    assert agreement is not None
    ratings = np.array(
        [[WINNERS.index(pair.winner or "tie") for pair in pairs] for _, pairs in judges]
    ).T
    table, _ = aggregate_raters(ratings)
    assert agreement.fleiss.estimate == pytest.approx(fleiss_kappa(table))
    square = np.zeros((3, 3))
    for row in ratings:
        square[row[0], row[1]] += 1
    expected = cohens_kappa(square)
    assert agreement.pairs["x", "y"].estimate == pytest.approx(expected.kappa)
    assert agreement.pairs["x", "y"].se == pytest.approx(expected.std_kappa)
    # Without missing answers alpha is Fleiss' kappa with a small-sample correction.
    n = ratings.size
    fleiss = fleiss_kappa(table)
    assert agreement.alpha.estimate == pytest.approx(fleiss + (1 - fleiss) / n)


def test_judges_without_a_common_answer_agree_on_nothing() -> None:
    first = [answered(0, "b", "b"), answered(1, None, "b")]
    second = [answered(0, None, "b"), answered(1, "b", "b")]
    agreement = judged_pairs([(spec("x"), first), (spec("y"), second)]).agreement
    assert agreement is not None
    assert (agreement.fleiss.estimate, agreement.alpha.estimate) == (None, None)


def test_calibration_counts_the_test_split_alone() -> None:
    pairs = drawn(7)
    draws = random.Random(8)  # noqa: S311
    people = {pair.key: draws.choice((pair.winner or "tie", *WINNERS)) for pair in pairs[:50]}
    test_split = {pair.key for pair in pairs[20:]}
    (finding,) = judged_pairs([(spec(), pairs)], People(people, test_split)).findings
    found = finding.calibration
    assert found is not None
    assert (found.n, found.outside) == (30, 20)
    both = [(pair.winner or "tie", people[pair.key]) for pair in pairs[20:50]]
    agreed = sum(j == h for j, h in both)
    assert (found.agreed, found.accuracy) == (agreed, agreed / 30)
    assert found.interval is not None
    low, high = proportion_confint(agreed, 30, method="wilson")
    assert (found.interval.lower, found.interval.upper) == pytest.approx((low, high))
    square = np.zeros((3, 3))
    for j, h in both:
        square[WINNERS.index(j), WINNERS.index(h)] += 1
    assert found.kappa.estimate == pytest.approx(cohens_kappa(square).kappa)
    assert found.sides is not None
    assert found.sides.tpr == pytest.approx(square[1, 1] / (square[1, 1] + square[0, 1]))
    assert found.sides.tnr == pytest.approx(square[0, 0] / (square[0, 0] + square[1, 0]))


def test_calibration_without_a_test_split_says_so() -> None:
    key = CaseKey("c")
    found = calibrate_winners({key: "b"}, {key: "b"}, set())
    assert (found.accuracy, found.sides, found.outside) == (None, None, 1)
    assert found.reason == "no label belongs to a judged case of the test split"
    undecided = calibrate_winners({key: None}, {key: "b"}, {key})
    assert undecided.n == 0
    ties = calibrate_winners({key: "tie"}, {key: "b"}, {key})
    assert (ties.n, ties.agreed, ties.sides) == (1, 0, None)


def won(
    name: str, wins: int, losses: int, missing: int = 0
) -> tuple[PairwiseSpec, list[JudgedPair]]:
    counts: tuple[tuple[Winner | None, int], ...] = (("b", wins), ("a", losses), (None, missing))
    winners = [winner for winner, count in counts for _ in range(count)]
    return spec(name), [answered(n, winner, winner) for n, winner in enumerate(winners)]


def test_the_gate_ships_when_every_judge_finds_b_better() -> None:
    decision = judges_gate(judged_pairs([won("x", 15, 3), won("y", 14, 4)]))
    assert decision.outcome is Outcome.SHIP
    # One-sided mid-p: P(X > 14) + P(X = 14)/2 with X binomial(18, 1/2).
    greater = binomtest(15, 18, alternative="greater").pvalue
    point = binomtest(14, 18, alternative="greater").pvalue - greater
    assert decision.evidence["judges"]["p"]["y"] == pytest.approx(greater + point / 2)


def test_one_judge_that_is_not_convinced_holds() -> None:
    decision = judges_gate(judged_pairs([won("x", 15, 3), won("y", 9, 9)]))
    assert decision.outcome is Outcome.HOLD
    assert decision.reasons[0] == "the judge y did not find B better beyond luck"
    both = judges_gate(judged_pairs([won("x", 8, 10), won("y", 9, 9)]))
    assert both.reasons[0].startswith("the judges x, y did")


@pytest.mark.parametrize("missing", [5, 18])
def test_a_judge_with_too_few_answers_gives_no_verdict(missing: int) -> None:
    decision = judges_gate(judged_pairs([won("x", 18 - missing, 0, missing)]))
    assert decision.outcome is Outcome.NO_VERDICT
    assert decision.reasons == (
        f"judge x gave both answers for {18 - missing} of 18 pairs: no answer",
    )


def test_no_pair_is_no_verdict() -> None:
    decision = judges_gate(judged_pairs([(spec(), [])]))
    assert decision.outcome is Outcome.NO_VERDICT
    assert "there is no pair to judge" in decision.reasons[0]


def label(case: str, condition: str | None = None, where: str = "f:1") -> WinnerLabel:
    return WinnerLabel(case, condition, "b", where)


def test_labels_find_their_rows() -> None:
    keys = [CaseKey("a"), CaseKey("b", "clean"), CaseKey("c", "clean"), CaseKey("c", "attack")]
    labels = [label("a"), label("b"), label("c", "attack"), label("x"), label("a", "attack")]
    found = match_labels(labels, keys)
    assert list(found.labels) == [keys[0], keys[1], keys[3]]
    assert found.unknown == ("x", "a [attack]")


def test_a_label_that_fits_several_rows_or_a_row_with_several_labels_is_refused() -> None:
    keys = [CaseKey("c", "clean"), CaseKey("c", "attack")]
    with pytest.raises(UsageError, match="several conditions") as caught:
        match_labels([label("c", where="f:3")], keys)
    assert caught.value.where == "f:3"
    with pytest.raises(UsageError, match="labelled twice"):
        match_labels([label("c"), label("c", "clean")], keys[:1])
