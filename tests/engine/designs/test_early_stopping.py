"""Early stopping: when it looks, what it sees, when it stops, and how often it is wrong."""

from __future__ import annotations

import random
from itertools import accumulate

import pytest
from tests.engine.designs.play import Played, passed, plan_of, play

from fairtrial.analysis.stopping.looks import reading
from fairtrial.engine.designs.early_stopping import EarlyStopping
from fairtrial.engine.plan import Slot
from fairtrial.model.verdict import Verdict
from fairtrial.stats.sequential.bounds import obrien_fleming_bounds


def run(fixed: float, n: int = 200, looks: int = 4, seed: int = 7) -> tuple[EarlyStopping, Played]:
    """Run two arms: A passes half of the cases, B also a share of the rest."""
    draws = random.Random(seed)  # noqa: S311  # data for a test
    chances = {f"c{k:03}": (draws.random(), draws.random()) for k in range(n)}

    def verdict(slot: Slot) -> Verdict:
        a, b = chances[slot.case.id]
        return passed(a < 0.5 or (slot.arm == "b" and b < fixed))

    design = EarlyStopping(plan_of(n, seed=seed), looks)
    return design, play(design, verdict)


def test_the_looks_cut_the_cases_into_equal_parts_that_hold_whole_pairs() -> None:
    design, played = run(fixed=0.0, n=90, looks=4)
    assert list(accumulate(len({s.case.id for s in stage}) for stage in played.stages)) == [
        23,
        45,
        68,
        90,
    ]
    for stage in played.stages:
        assert sorted(s.case.id for s in stage if s.arm == "a") == sorted(
            s.case.id for s in stage if s.arm == "b"
        )
    assert len(played.outcomes) == 180
    assert played.reason is None
    assert not any(look.stops for look in design.taken)


def test_a_large_effect_stops_early_and_says_at_which_look() -> None:
    design, played = run(fixed=0.6)
    assert played.reason is not None
    assert played.reason.startswith("stopped at look 2 of 4: p = ")
    assert len(played.stages) == 2
    assert [look.cases for look in design.taken] == [50, 100]
    assert design.taken[-1].stops


def test_the_limits_are_those_of_the_actual_information() -> None:
    design, _ = run(fixed=0.0, n=90, looks=3)
    limits = [look.decision.evidence["limit"] for look in design.taken]
    expected = obrien_fleming_bounds([30 / 90, 60 / 90, 1.0]).nominal_p
    assert limits == pytest.approx(expected)


def test_a_case_without_a_verdict_in_one_arm_is_no_information() -> None:
    def verdict(slot: Slot) -> Verdict:
        if slot.arm == "b" and int(slot.case.id[1:]) % 2:
            return Verdict.UNDECIDED
        return Verdict.PASSED

    design = EarlyStopping(plan_of(80), looks=2)
    play(design, verdict)
    assert design.taken[-1].cases == 40
    assert design.taken[-1].decision.evidence["planned"] == 80


def test_a_look_at_fewer_than_ten_cases_spends_nothing() -> None:
    design, _ = run(fixed=1.0, n=16, looks=4)
    assert [look.counted for look in design.taken] == [False, False, True, True][
        : len(design.taken)
    ]


def test_looks_that_bring_no_new_case_are_said_and_harm_nothing() -> None:
    first = {case.id for case in EarlyStopping(plan_of(40), looks=2).parts()[0]}

    def verdict(slot: Slot) -> Verdict:
        return Verdict.PASSED if slot.case.id in first else Verdict.UNDECIDED

    design = EarlyStopping(plan_of(40), looks=2)
    assert play(design, verdict).reason is None
    assert [look.cases for look in design.taken] == [20, 20]
    assert "no further case" in design.taken[1].decision.reasons[0]


def test_more_looks_than_cases_are_as_many_looks_as_cases() -> None:
    design = EarlyStopping(plan_of(3), looks=10)
    assert [len(part) for part in design.parts()] == [1, 1, 1]


def test_the_fair_estimate_is_nearer_to_zero_than_the_plain_one() -> None:
    design, _ = run(fixed=0.6)
    assert design.cases is not None
    found = reading(design.taken, design.cases)
    assert found is not None
    plain = design.taken[-1].comparison.difference.estimate
    assert plain is not None
    assert found.naive == pytest.approx(plain)
    assert 0 < found.median_unbiased < plain
    assert found.look == 2
    assert found.interval.lower > 0


def test_without_any_difference_there_is_no_reading_but_a_run() -> None:
    design = EarlyStopping(plan_of(40), looks=2)
    play(design, lambda _: Verdict.PASSED)
    assert design.cases is not None
    assert reading(design.taken, design.cases) is None


@pytest.mark.slow
def test_an_unchanged_agent_is_stopped_in_at_most_five_percent_of_the_runs() -> None:
    runs = 2000
    stopped = 0
    for seed in range(runs):
        draws = random.Random(seed)  # noqa: S311  # data for a test

        def verdict(_: Slot, draws: random.Random = draws) -> Verdict:
            return passed(draws.random() < 0.6)

        design = EarlyStopping(plan_of(100, seed=seed), looks=4)
        play(design, verdict)
        stopped += design.taken[-1].stops
    # Four standard errors of a share of 5 % over 2,000 runs are 2 points.
    assert stopped / runs < 0.05 + 0.02


@pytest.mark.slow
def test_the_fair_interval_covers_the_true_effect() -> None:
    runs, covered = 600, 0
    for seed in range(runs):
        design, _ = run(fixed=0.4, n=120, seed=seed)
        assert design.cases is not None
        found = reading(design.taken, design.cases)
        assert found is not None
        covered += found.interval.lower <= 0.2 <= found.interval.upper
    assert covered / runs > 0.95 - 0.035
