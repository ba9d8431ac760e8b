"""Order statistics of pairwise averages are those of the list of all averages, to the last bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairtrial.stats.paired import walsh
from fairtrial.stats.paired.walsh import walsh_order_statistics

Floats = npt.NDArray[np.float64]


def _listed(ordered: Floats) -> list[float]:
    rows, columns = np.triu_indices(ordered.size)
    averages: list[float] = np.sort(0.5 * (ordered[rows] + ordered[columns])).tolist()
    return averages


@pytest.fixture(scope="module", autouse=True)
def _few_are_many() -> Iterator[None]:
    """Let a few dozen values take the way of millions."""
    patch = pytest.MonkeyPatch()
    patch.setattr(walsh, "_MOST_LISTED", 30)
    patch.setattr(walsh, "_SAMPLE", 20)
    yield
    patch.undo()


_VALUES = (
    st.floats(-1e6, 1e6)
    | st.integers(-3, 3).map(float)
    | st.sampled_from([0.1, 0.2, 0.3, 0.7, 1e-17, -1e-17, 1e-300, 5e-324, -0.0])
)


@given(st.lists(_VALUES, min_size=1, max_size=40), st.data())
def test_any_rank_of_any_values(values: list[float], data: st.DataObject) -> None:
    ordered = np.sort(np.array(values))
    averages = _listed(ordered)
    ranks = data.draw(st.lists(st.integers(1, len(averages)), min_size=1, max_size=4))
    expected = [averages[rank - 1] for rank in ranks]
    assert walsh_order_statistics(ordered, ranks) == expected


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.normal(size=200),
        lambda rng: np.round(rng.normal(size=200), 1),
        lambda rng: rng.integers(-1, 2, 200).astype(float),
        lambda rng: rng.lognormal(0.0, 30.0, 200),
        lambda rng: rng.choice([1.0, -1.0, 1e-17, -1e-17, 1e-16], 200),
        lambda rng: np.full(200, rng.normal()),
    ],
)
def test_the_middle_and_the_ends(draw: Callable[[np.random.Generator], Floats]) -> None:
    ordered = np.sort(draw(np.random.default_rng(4)))
    averages = _listed(ordered)
    m = len(averages)
    for ranks in ((1, m), (m // 2, m // 2 + 1, m // 2 + 2), (m // 3, m - 1, 2)):
        assert walsh_order_statistics(ordered, ranks) == [averages[rank - 1] for rank in ranks]


def test_many_values_are_never_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    ordered = np.sort(np.random.default_rng(1).lognormal(size=3_000))
    averages = _listed(ordered)
    ranks = (1, 2_000_000, 2_000_001, len(averages))
    monkeypatch.setattr(walsh, "_MOST_LISTED", 10_000)
    monkeypatch.setattr(walsh, "_SAMPLE", 5_000)
    assert walsh_order_statistics(ordered, ranks) == [averages[rank - 1] for rank in ranks]
