"""Distinct rows are those that numpy finds by sorting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairtrial.stats.distinct import distinct_rows

INT = np.iinfo(np.int64)


@pytest.mark.parametrize("reach", [1, 3, 10**6, 2**62])
@pytest.mark.parametrize("columns", [1, 2, 4])
def test_it_agrees_with_numpy(reach: int, columns: int) -> None:
    rng = np.random.default_rng(columns)
    table = rng.integers(-reach, reach, size=(500, columns), endpoint=True)
    rows, counts = distinct_rows(list(table.T))
    expected, times = np.unique(table, axis=0, return_counts=True)
    assert rows.tolist() == expected.tolist()
    assert counts.tolist() == times.tolist()


@given(st.lists(st.tuples(*(st.integers(INT.min, INT.max) | st.integers(0, 3),) * 2)))
def test_any_numbers_are_counted(table: list[tuple[int, int]]) -> None:
    columns = np.array(table, dtype=np.int64).reshape(len(table), 2).T
    rows, counts = distinct_rows(list(columns))
    found = dict(zip(map(tuple, rows.tolist()), counts.tolist(), strict=True))
    assert found == {row: table.count(row) for row in table}
    assert list(found) == sorted(found)


def test_nothing_has_no_rows() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    rows, counts = distinct_rows([nothing, nothing])
    assert rows.shape == (0, 2)
    assert counts.tolist() == []
