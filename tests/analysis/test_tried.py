"""The ledger of what was tried."""

from __future__ import annotations

import math

import numpy as np
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
    found = tried("bugs", 3, size=(10, 1))
    assert (found.optimism, found.reason) == (None, "no case has a verdict")


@pytest.mark.parametrize(("rate", "who"), [(0.0, "none"), (1.0, "all")])
def test_cases_that_all_end_alike_show_no_spread_not_a_spread_of_zero(
    rate: float, who: str
) -> None:
    found = tried("bugs", 3, size=(50, 1), rate=rate)
    assert (found.optimism, found.se) == (None, None)
    assert f"by how much is not known: {who} of its cases passed" in found.sentence()
    assert tried("bugs", 3, floor=_floor(0.04), size=(100, 4), rate=rate).optimism is not None


def test_the_number_is_the_mean_excess_of_the_best_of_as_many_equal_ones() -> None:
    # Independently: eight equally good configurations, each measured once on 60 fresh cases.
    rng = np.random.default_rng(8)
    best = (rng.random((20_000, 8, 60)) < 0.3).mean(axis=2).max(axis=1)
    found = tried("bugs", 8, size=(60, 1), rate=0.3)
    assert found.optimism == pytest.approx(float(best.mean()) - 0.3, abs=0.003)
