"""Pairs run one after the other, in balanced random order."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from fairtrial.engine.pairs import PairedPlan
from fairtrial.engine.plan import Arm, Policy
from fairtrial.model.dataset import DatasetVersion
from fairtrial.model.task import TaskSpec
from fairtrial.ports import CaseOutline


def orders(pairs: int, seed: int) -> list[str]:
    """Return the order of each pair, `AB` or `BA`."""
    version = DatasetVersion("p", 1, "0" * 64, datetime(2026, 1, 1, tzinfo=UTC), pairs, {})
    plan = PairedPlan(
        dataset=version,
        cases=[CaseOutline(n, f"pair-{n}", "default", None, f"{n:064x}") for n in range(pairs)],
        arms=(Arm("A", TaskSpec("command", {})), Arm("B", TaskSpec("command", {}))),
        graders=(),
        trials=1,
        seed=seed,
        policy=Policy(concurrency=1),
    )
    slots = list(plan.slots())
    assert [slot.case.position for slot in slots] == [n for n in range(pairs) for _ in "AB"]
    assert {slot.trial for slot in slots} <= {1}
    return [slots[n].arm + slots[n + 1].arm for n in range(0, 2 * pairs, 2)]


@given(pairs=st.integers(1, 60), seed=st.integers(0, 2**31))
def test_both_orders_are_equally_frequent_whenever_the_run_ends(pairs: int, seed: int) -> None:
    drawn = orders(pairs, seed)
    assert set(drawn) <= {"AB", "BA"}
    for end in range(1, pairs + 1):
        assert abs(drawn[:end].count("AB") - drawn[:end].count("BA")) <= 1


def test_the_order_is_drawn_and_repeats_with_its_seed() -> None:
    assert orders(40, 1) == orders(40, 1)
    assert orders(40, 1) != orders(40, 2)
    assert {tuple(orders(1, seed)) for seed in range(20)} == {("AB",), ("BA",)}
