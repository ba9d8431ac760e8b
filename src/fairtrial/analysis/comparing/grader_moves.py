"""How many rows each grader scored higher, and how many lower."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from fairtrial.analysis.comparing.compare import Compare
from fairtrial.analysis.comparing.deltas import scores_of

_SAME_SCORE = 1e-9


class Moved(NamedTuple):
    """Rows of both sides that a grader scored, by what became of their mean score.

    Attributes:
        improved: Higher in B.
        regressed: Lower in B.
        same: As high in both.
    """

    improved: int
    regressed: int
    same: int


def grader_moves(found: Compare) -> Mapping[str, Moved]:
    """Return what became of the rows of each grader whose delta a comparison gives."""
    return {part.name: _moved(found, part.name) for part in found.comparison.graders}


def _moved(found: Compare, name: str) -> Moved:
    a, b = scores_of(found.pairs, name)
    where = ~found.pairs.blocked & ~np.isnan(a) & ~np.isnan(b)
    gained = b[where] - a[where]
    improved, regressed = int((gained > _SAME_SCORE).sum()), int((gained < -_SAME_SCORE).sum())
    return Moved(improved, regressed, int(gained.size) - improved - regressed)
