"""Distinct rows of whole numbers, counted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

_MOST_CODES = 1 << 20
"""Beyond so many possible rows a counter for each would cost more than a sort."""


def distinct_rows(
    columns: Sequence[npt.NDArray[np.int64]],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the distinct rows of some columns in ascending order, and how often each is there.

    The same as numpy's `unique` along an axis. That sorts rows as bytes, which takes half a
    microsecond a row; passes and trials are small numbers, so here each possible row mostly has a
    counter of its own.

    Args:
        columns: Columns of one length, at least one.
    """
    table = np.column_stack(columns)
    if not len(table):
        return table, np.zeros(0, dtype=np.int64)
    lows = table.min(axis=0)
    spans = (table.max(axis=0).astype(object) - lows + 1).tolist()
    codes = 1
    for span in spans:
        codes *= span
    if codes > _MOST_CODES:
        rows, counts = np.unique(table, axis=0, return_counts=True)
        return rows, counts
    code = np.ravel_multi_index(tuple((table - lows).T), tuple(spans))
    counted = np.bincount(code, minlength=codes)
    present = np.flatnonzero(counted)
    rows = np.column_stack(np.unravel_index(present, tuple(spans))) + lows
    return rows, counted[present]
