"""The ledger of what was tried."""

from __future__ import annotations

import math

import pytest

from fairtrial.analysis.tried import tried
from fairtrial.model.noise import NoiseFloor, StoredFloor
from fairtrial.testing.store.facts import NOON


def _floor(within: float) -> StoredFloor:
    measured = NoiseFloor(50, 1.0, 2 * within, within, None, 0.5, 0.5, 0.1, 1.0, "x", ())
    return StoredFloor(measured, ("exp_1",), NOON)


def test_the_measured_noise_is_used_first() -> None:
    found = tried("bugs", 10, floor=_floor(0.04), size=(100, 4), rate=0.5)
    assert found.se == pytest.approx(math.sqrt(0.04 / 400))
    assert found.optimism == pytest.approx(1.53875 * 0.01, abs=1e-6)
    assert found.basis == "noise floor"
    assert found.sentence() == (
        "10 configurations were tried on bugs: were all equally good, the best would still look "
        "1.5 points better than it is (by the noise that exp aa measured)."
    )


def test_without_it_the_spread_of_a_rate_is_the_bound() -> None:
    found = tried("bugs", 2, size=(100, 1), rate=0.5)
    assert found.optimism == pytest.approx(0.05 / math.sqrt(math.pi))
    assert "at most" in found.sentence()


@pytest.mark.parametrize(("many", "size"), [(1, (100, 1)), (0, (100, 1)), (3, (0, 1))])
def test_where_nothing_was_chosen_nothing_is_flattered(many: int, size: tuple[int, int]) -> None:
    found = tried("bugs", many, size=size, rate=0.5)
    assert (found.optimism, found.content()["optimism"]) == (None, None)
    assert "bugs" in found.sentence()


def test_without_any_verdict_there_is_no_number() -> None:
    assert tried("bugs", 3, size=(10, 1)).optimism is None
