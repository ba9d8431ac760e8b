import numpy as np
import pytest

from fairtrial.analysis.arms import compare_arms, compare_graders
from fairtrial.analysis.cases import PairedCases, paired_scores, paired_trials
from fairtrial.analysis.measured import metric_changes
from fairtrial.analysis.noninferiority import non_inferiority
from fairtrial.analysis.paired import paired
from fairtrial.analysis.pairwise_gate import pairwise_gate
from fairtrial.analysis.stopping.early import early_stop
from fairtrial.analysis.stopping.regression import confirmed_regression
from fairtrial.analysis.sweep import adopt
from fairtrial.model.decision import Decision, Outcome
from fairtrial.model.delta import Direction
from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.multiplicity import holm
from fairtrial.stats.pairwise import pairwise
from fairtrial.stats.sequential.bounds import obrien_fleming_bounds
from fairtrial.stats.trials import from_counts


def _single(both: int, fixed: int, broken: int, neither: int) -> PairedCases:
    a = [1] * both + [0] * fixed + [1] * broken + [0] * neither
    b = [1] * both + [1] * fixed + [0] * broken + [0] * neither
    return paired_trials(from_counts(a, [1] * len(a)), from_counts(b, [1] * len(a)))


def test_twenty_ties_do_not_prove_non_inferiority() -> None:
    decision = non_inferiority(_single(20, 0, 0, 0), 0.05)
    assert decision.outcome is Outcome.HOLD
    assert non_inferiority(_single(200, 0, 0, 0), 0.05).outcome is Outcome.SHIP
    assert decision.evidence["lower"] == pytest.approx(-0.161125, abs=1e-6)
    assert non_inferiority(paired_scores([], []), 0.05).outcome is Outcome.TOO_FEW


def test_arms_are_adjusted_for_their_number() -> None:
    arms = {"x": _single(20, 12, 1, 20), "y": _single(20, 8, 2, 23), "z": _single(26, 1, 1, 25)}
    found = compare_arms(arms)
    alone = [paired(cases) for cases in arms.values()]
    p = [c.p.value for c in alone if c.p is not None]
    assert [f.p_adjusted for f in found.values()] == pytest.approx(holm(p).tolist())
    assert found["x"].verdict is Direction.BETTER
    assert found["z"].verdict is Direction.INCONCLUSIVE
    assert found["x"].comparison.difference.level == pytest.approx(1 - 0.05 / 3)
    assert found["x"].level == 0.95
    assert "adjusted for all" in found["x"].describe()
    assert compare_arms({}) == {}
    worse = compare_arms({"x": _single(20, 1, 12, 20), "empty": paired_scores([], [])})
    assert worse["x"].verdict is Direction.WORSE
    assert worse["empty"].p_adjusted is None
    assert worse["empty"].verdict is Direction.INCONCLUSIVE
    assert "share no case" in worse["empty"].describe()


def test_the_primary_grader_is_judged_alone_and_the_others_together() -> None:
    graders = {
        "style": _single(20, 8, 2, 23),
        "tests": _single(20, 7, 1, 25),
        "cost": _single(9, 0, 0, 9),
    }
    found = compare_graders(graders, "tests")
    alone = paired(graders["tests"])
    assert alone.p is not None
    assert found["tests"].p_adjusted == alone.p.value
    assert found["tests"].comparison == alone
    others = compare_arms({"style": graders["style"], "cost": graders["cost"]})
    assert found["style"] == others["style"]
    with pytest.raises(ArgumentError, match="primary"):
        compare_graders(graders, "speed")


def test_metrics_know_which_way_is_better_and_how_many_there_are() -> None:
    rng = np.random.default_rng(3)
    a = rng.lognormal(0, 0.05, 12)
    found = metric_changes(
        {
            "seconds": (a, a * 0.8),
            "tokens": (a, a * rng.lognormal(0, 0.02, 12)),
            "throughput": (a, a * 1.3),
            "few": (a[:5], a[:5] * 0.5),
            "none": ([], []),
        },
        higher_is_better=frozenset({"throughput"}),
    )
    assert found["seconds"].verdict is Direction.BETTER
    assert found["throughput"].verdict is Direction.BETTER
    assert found["tokens"].verdict is Direction.INCONCLUSIVE
    assert found["few"].verdict is Direction.INCONCLUSIVE
    assert found["none"].p_adjusted is None
    assert "Better" in found["seconds"].describe()
    assert "no pairs" in found["none"].describe()
    raw = found["seconds"].change.p
    assert raw is not None
    assert found["seconds"].p_adjusted == pytest.approx(4 * raw.value)
    slower = metric_changes({"seconds": (a, a * 1.2)})["seconds"]
    assert slower.verdict is Direction.WORSE


def test_every_judge_must_prefer_the_candidate() -> None:
    likes, shrugs = pairwise([("b", "b")] * 9), pairwise([("b", "b"), ("a", "a")])
    assert pairwise_gate({"one": likes}).outcome is Outcome.SHIP
    held = pairwise_gate({"one": likes, "two": shrugs})
    assert held.outcome is Outcome.HOLD
    assert held.evidence["against"] == ["two"]
    with pytest.raises(ArgumentError, match="judges"):
        pairwise_gate({})


def test_a_race_winner_needs_held_out_proof_and_the_guard() -> None:
    better, same = paired(_single(20, 12, 1, 20)), paired(_single(20, 2, 1, 20))
    ship, hold = Decision(Outcome.SHIP, ("fine",)), Decision(Outcome.HOLD, ("broke",))
    assert adopt(better, ship).outcome is Outcome.SHIP
    assert adopt(better, hold).outcome is Outcome.HOLD
    assert adopt(same, ship).outcome is Outcome.HOLD


def test_looks_compare_their_own_p_with_the_boundary() -> None:
    comparison = paired(_single(20, 14, 1, 15))
    bounds = obrien_fleming_bounds([0.25, 0.5], final=False)
    found = early_stop(comparison, [25, 50], 100)
    assert found.evidence["limit"] == pytest.approx(bounds.nominal_p[-1])
    assert found.outcome is Outcome.STOP
    assert "median-unbiased" in found.advice[0]
    weak = early_stop(paired(_single(20, 9, 2, 19)), [25, 50], 100)
    assert weak.outcome is Outcome.CONTINUE
    last = early_stop(paired(_single(20, 9, 2, 19)), [25, 50], 100, final=True)
    assert last.evidence["limit"] > weak.evidence["limit"]
    assert last.evidence["spent"] == 0.05


def test_looks_before_ten_cases_are_refused_and_spend_nothing() -> None:
    comparison = paired(_single(0, 9, 0, 0))
    assert "too few for a look" in early_stop(comparison, [9], 100).reasons[0]
    later = early_stop(comparison, [5, 25], 100)
    assert later.evidence["looks"] == [25]
    nothing = early_stop(paired(paired_scores([], [])), [20], 100)
    assert nothing.outcome is Outcome.CONTINUE
    assert nothing.reasons == ("the look has no p-value",)
    for bad in ([], [20, 20]):
        with pytest.raises(ArgumentError, match="done"):
            early_stop(comparison, bad, 100)


def test_a_regression_is_believed_after_two_failed_reruns() -> None:
    assert confirmed_regression([False], baseline_solved=False).outcome is Outcome.CONTINUE
    assert confirmed_regression([], baseline_solved=True).outcome is Outcome.CONTINUE
    assert confirmed_regression([False, True], baseline_solved=True).outcome is Outcome.CONTINUE
    possible = confirmed_regression([False], baseline_solved=True)
    assert possible.outcome is Outcome.CONTINUE
    assert possible.evidence["reruns_needed"] == 2
    assert confirmed_regression([False] * 3, baseline_solved=True).outcome is Outcome.STOP
    assert (
        confirmed_regression([False], baseline_solved=True, confirmations=0).outcome is Outcome.STOP
    )
