import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairtrial.stats.lattice import find_lattice


@given(st.integers(1, 12), st.lists(st.integers(-30, 30), min_size=1, max_size=300))
def test_steps_give_the_values_back(per_unit: int, steps: list[int]) -> None:
    values = np.array(steps) / per_unit
    found = find_lattice(values)
    assert found is not None
    back = np.repeat((found.low + np.arange(found.counts.size)) / found.per_unit, found.counts)
    assert back == pytest.approx(np.sort(values), abs=1e-12)
    assert found.n == len(steps)
    assert found.total / found.per_unit == pytest.approx(values.sum(), abs=1e-9)
    sizes = np.repeat(np.arange(found.sizes.size) / found.per_unit, found.sizes)
    assert sizes == pytest.approx(np.sort(np.abs(values)), abs=1e-12)
    assert per_unit % found.per_unit == 0


def test_a_finer_step_after_the_prefix_is_found() -> None:
    values = np.concatenate([np.tile([0.0, 1.0, -0.5], 200), [1 / 3, 2 / 7]])
    found = find_lattice(values)
    assert found is not None
    assert found.per_unit == 42


def test_counting_goes_on_past_one_block() -> None:
    steps = np.random.default_rng(5).integers(-3, 4, 100_000)
    found = find_lattice(steps / 3)
    assert found is not None
    assert found.counts.tolist() == np.bincount(steps + 3).tolist()
    assert find_lattice(np.append(steps / 3, np.pi)) is None


@pytest.mark.parametrize(
    "values",
    [
        [],
        [np.pi],
        [0.0] * 300 + [np.pi / 4],
        [1e9],
        [1 / 61, 1 / 59, 1 / 53],
        [0.0] * 300 + [1 / 61, 1 / 59, 1 / 53],
    ],
)
def test_what_has_no_small_step_has_no_lattice(values: list[float]) -> None:
    assert find_lattice(np.array(values)) is None
