"""A plan is a pure function of its parts."""

from __future__ import annotations

import dataclasses
from collections import Counter
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from fairtrial.engine.plan import Arm, Plan, Policy, stored_policy, trial_seed
from fairtrial.model.dataset import DatasetVersion
from fairtrial.model.grader import GraderSpec
from fairtrial.model.task import TaskSpec
from fairtrial.ports import CaseOutline


def plan(n_cases: int = 5, trials: int = 2, seed: int = 1, arms: int = 1) -> Plan:
    cases = [CaseOutline(n, f"c{n}", "default", None, f"{n:064x}") for n in range(n_cases)]
    version = DatasetVersion("d", 1, "0" * 64, datetime(2026, 1, 1, tzinfo=UTC), n_cases, {})
    return Plan(
        dataset=version,
        cases=cases,
        arms=tuple(Arm(f"arm{n}", TaskSpec("command", {"command": str(n)})) for n in range(arms)),
        graders=(GraderSpec("exact", "exact"),),
        trials=trials,
        seed=seed,
        policy=Policy(),
    )


@given(
    n_cases=st.integers(1, 30),
    trials=st.integers(1, 4),
    arms=st.integers(1, 3),
    seed=st.integers(0, 2**31),
)
def test_the_order_holds_every_trial_once_a_round_after_the_other(
    n_cases: int, trials: int, arms: int, seed: int
) -> None:
    slots = list(plan(n_cases, trials, seed, arms).slots())
    assert len(slots) == n_cases * trials * arms
    assert set(Counter(slots).values()) == {1}
    assert [slot.trial for slot in slots] == sorted(slot.trial for slot in slots)
    for start in range(0, len(slots), arms):
        group = slots[start : start + arms]
        assert len({slot.case.id for slot in group}) == 1
        assert len({slot.arm for slot in group}) == arms


def test_the_same_seed_gives_the_same_order_and_another_another() -> None:
    assert list(plan(20).slots()) == list(plan(20).slots())
    assert list(plan(20).slots()) != list(plan(20, seed=2).slots())


def test_rounds_differ_in_order() -> None:
    ids = [slot.case.id for slot in plan(20, trials=2).slots()]
    assert ids[:20] != ids[20:]


def test_each_of_three_arms_stands_in_each_place_as_often() -> None:
    slots = list(plan(n_cases=9, trials=1, arms=3).slots())
    for place in range(3):
        arms = [slot.arm for slot in slots[place::3]]
        assert [arms.count(f"arm{n}") for n in range(3)] == [3, 3, 3]


def test_which_arm_comes_first_alternates() -> None:
    slots = list(plan(10, trials=1, arms=2).slots())
    firsts = [slot.arm for slot in slots[::2]]
    assert firsts == ["arm0", "arm1"] * 5


def test_identity_is_what_is_run_and_policy_is_not() -> None:
    base = plan()
    same = dataclasses.replace(base, policy=Policy(concurrency=99, trial_timeout_s=1.0), seed=8)
    assert same.identity == base.identity
    others = [
        plan(trials=3),
        plan(n_cases=4),
        plan(arms=2),
        dataclasses.replace(base, graders=(GraderSpec("exact", "exact", threshold=0.5),)),
        dataclasses.replace(base, arms=(Arm("arm0", TaskSpec("command", {"command": "x"})),)),
    ]
    assert len({other.identity for other in [base, *others]}) == 6


def test_a_policy_comes_back_from_the_store() -> None:
    policy = Policy(concurrency=2, retries=0, stop_after_infra=9, trial_timeout_s=1.5)
    assert stored_policy(policy.content()) == policy


def test_trial_seeds_differ_by_case_condition_and_trial() -> None:
    seeds = {
        trial_seed(1, case, condition, trial)
        for case in ("a", "b", "a\0b")
        for condition in ("default", "attack")
        for trial in (1, 2)
    }
    assert len(seeds) == 12
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert trial_seed(2, "a", "default", 1) not in seeds
    assert trial_seed(1, "\ud800", "default", 1) >= 0
