"""The rows that both arms have, as arrays, and what became of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fairtrial.model.case import CaseKey
from fairtrial.model.columns import ArmColumns, PairedRows
from fairtrial.model.comparison import Change, FlipNoise
from fairtrial.stats.arrays import FloatArray
from fairtrial.stats.distinct import distinct_rows
from fairtrial.stats.paired.fisher import fisher_mid_p
from fairtrial.stats.trials import TrialSums, from_counts

Flags = npt.NDArray[np.bool_]
Places = npt.NDArray[np.intp]

CHANGES = tuple(Change)
"""A change's code is its place here."""
_SAME_SCORE = 1e-9
_NOISE_LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class ArmArrays:
    """One side of the shared rows.

    Attributes:
        places: Where the rows are in the arm's columns.
        passed: Trials that passed.
        decided: Trials with a verdict.
        scores: Mean main scores; NaN where there is none.
    """

    places: Places
    passed: npt.NDArray[np.int64]
    decided: npt.NDArray[np.int64]
    scores: FloatArray


@dataclass(frozen=True, slots=True)
class Pairs:
    """The shared rows, in the order they were joined.

    Attributes:
        rows: The columns they come from.
        a: The baseline's side.
        b: The candidate's.
        blocked: Rows that cannot be compared.
        codes: Each row's change, as its place in `CHANGES`.
    """

    rows: PairedRows
    a: ArmArrays
    b: ArmArrays
    blocked: Flags
    codes: npt.NDArray[np.int8]

    @property
    def counted(self) -> Flags:
        """Rows that count: comparable, and decided on both sides."""
        return ~self.blocked & (self.a.decided > 0) & (self.b.decided > 0)

    def of(self, change: Change) -> Places:
        """Return the positions of the rows with this change."""
        return np.flatnonzero(self.codes == CHANGES.index(change))

    def key(self, position: int) -> CaseKey:
        """Return the key of a shared row."""
        place = int(self.a.places[position])
        return CaseKey(self.rows.a.case_ids[place], self.rows.a.conditions[place])

    def sums(self, where: Flags | Places) -> tuple[TrialSums, TrialSums]:
        """Return the passed and decided trials of some rows, in both arms."""
        return (
            from_counts(self.a.passed[where], self.a.decided[where]),
            from_counts(self.b.passed[where], self.b.decided[where]),
        )


def pair(rows: PairedRows, *, blocked: bool, scores_comparable: bool) -> Pairs:
    """Return the shared rows with what became of each.

    Args:
        rows: Both arms, joined.
        blocked: No row can be compared.
        scores_comparable: Main scores of both arms mean the same; else only verdicts count.
    """
    a, b = (
        _arrays(columns, places)
        for columns, places in zip((rows.a, rows.b), rows.pairs, strict=True)
    )
    barred = np.full(a.places.size, blocked)
    if rows.changed and not blocked:
        barred = np.array([key in rows.changed for key in _keys(rows)], dtype=np.bool_)
    codes = _codes(a, b, barred, scores_comparable=scores_comparable)
    return Pairs(rows, a, b, barred, codes)


def _arrays(columns: ArmColumns, places: Sequence[int]) -> ArmArrays:
    at = np.asarray(places, dtype=np.intp)
    passed = np.asarray(columns.passed, dtype=np.int64)[at]
    failed = np.asarray(columns.failed, dtype=np.int64)[at]
    scores = np.array(columns.scores, dtype=np.float64)[at]
    return ArmArrays(at, passed, passed + failed, scores)


def _keys(rows: PairedRows) -> Sequence[CaseKey]:
    ids, conditions = rows.a.case_ids, rows.a.conditions
    return [CaseKey(ids[place], conditions[place]) for place in rows.pairs[0]]


def _codes(
    a: ArmArrays, b: ArmArrays, blocked: Flags, *, scores_comparable: bool
) -> npt.NDArray[np.int8]:
    solved_a, solved_b = 2 * a.passed > a.decided, 2 * b.passed > b.decided
    # Rates of whole numbers are compared by their products: no rounding can make two differ.
    more = np.sign(b.passed * a.decided - a.passed * b.decided)
    if scores_comparable:
        gain = np.nan_to_num(b.scores - a.scores)
        more = np.where((more == 0) & (np.abs(gain) > _SAME_SCORE), np.sign(gain), more)
    return np.select(
        [
            blocked,
            (a.decided == 0) | (b.decided == 0),
            solved_b & ~solved_a,
            solved_a & ~solved_b,
            more > 0,
            more < 0,
        ],
        [
            CHANGES.index(change)
            for change in (
                Change.NOT_COMPARABLE,
                Change.UNDECIDED,
                Change.FIXED,
                Change.BROKEN,
                Change.IMPROVED,
                Change.REGRESSED,
            )
        ],
        CHANGES.index(Change.SAME),
    ).astype(np.int8)


def within_noise(passed_a: int, decided_a: int, passed_b: int, decided_b: int) -> bool | None:
    """Return whether a row's own trials could flip its verdict by luck alone.

    None when they could not tell: even a row that failed all of one side and passed all of the
    other would look like luck.
    """
    if fisher_mid_p(0, decided_a, decided_b, decided_b) > _NOISE_LEVEL + 1e-12:
        return None
    return fisher_mid_p(passed_a, decided_a, passed_b, decided_b) > _NOISE_LEVEL + 1e-12


def flip_noise(pairs: Pairs) -> FlipNoise:
    """Return how many of the flips could be luck."""
    flips = np.concatenate([pairs.of(Change.FIXED), pairs.of(Change.BROKEN)])
    a, b = pairs.a, pairs.b
    columns = [column[flips] for column in (a.passed, a.decided, b.passed, b.decided)]
    shapes, counts = distinct_rows(columns)
    totals: dict[bool | None, int] = {True: 0, False: 0, None: 0}
    for shape, count in zip(shapes.tolist(), counts.tolist(), strict=True):
        totals[within_noise(*shape)] += count
    return FlipNoise(totals[True], totals[False], totals[None])
