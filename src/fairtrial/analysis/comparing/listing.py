"""The rows of each class of change, made when they are read."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from typing import overload

from fairtrial.analysis.comparing.pairs import Pairs, within_noise
from fairtrial.model.case import CaseKey
from fairtrial.model.columns import ArmColumns
from fairtrial.model.comparison import LISTED, Change, RowChange, Side

_Key = tuple[str, str]
_FEW = 100
"""So many first rows are picked out, without sorting all."""


class Rows(Sequence[RowChange]):
    """Rows sorted by key. A report shows a few of a hundred thousand, so each is made late."""

    def __init__(
        self, size: int, keys: Callable[[], Sequence[_Key]], make: Callable[[int], RowChange]
    ) -> None:
        self._size = size
        self._keys = keys
        self._make = make
        self._order: Sequence[int] | None = None

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, at: int) -> RowChange: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[RowChange]: ...

    def __getitem__(self, at: int | slice) -> RowChange | Sequence[RowChange]:
        if isinstance(at, int):
            return self._make(self._sorted(None)[at])
        forwards = (at.start or 0) >= 0 and (at.step or 1) > 0
        return [self._make(number) for number in self._sorted(at.stop if forwards else None)[at]]

    def _sorted(self, first: int | None) -> Sequence[int]:
        """Return the numbers of the rows in order: all, or only so many of the first."""
        if self._order is not None:
            return self._order
        keys = self._keys()
        if first is not None and 0 <= first <= _FEW:
            return heapq.nsmallest(first, range(self._size), key=keys.__getitem__)
        self._order = sorted(range(self._size), key=keys.__getitem__)
        return self._order


def listed(pairs: Pairs, why_blocked: str | None) -> Mapping[Change, Rows]:
    """Return the rows of every class that is worth a list.

    Args:
        pairs: The shared rows.
        why_blocked: Why no row can be compared; None when it is for the cases' own content.
    """
    rows = pairs.rows
    found: dict[Change, Rows] = {change: _shared(pairs, change, why_blocked) for change in LISTED}
    found[Change.NEW] = _alone(rows.b, rows.only_b, Change.NEW)
    found[Change.DROPPED] = _alone(rows.a, rows.only_a, Change.DROPPED)
    return found


def same(pairs: Pairs) -> Rows:
    """Return the rows that are the same in A and B: no report lists them, but an export does."""
    return _shared(pairs, Change.SAME, None)


def _shared(pairs: Pairs, change: Change, why_blocked: str | None) -> Rows:
    positions = pairs.of(change)

    def keys() -> Sequence[_Key]:
        return _keys(pairs.rows.a, pairs.a.places[positions].tolist())

    def make(number: int) -> RowChange:
        return _row(pairs, int(positions[number]), change, why_blocked)

    return Rows(positions.size, keys, make)


def _alone(arm: ArmColumns, places: Sequence[int], change: Change) -> Rows:
    def make(number: int) -> RowChange:
        place = places[number]
        here = side(arm, place)
        a, b = (None, here) if change is Change.NEW else (here, None)
        key = CaseKey(arm.case_ids[place], arm.conditions[place])
        return RowChange(key, change, a, b, arm.reasons[place])

    return Rows(len(places), lambda: _keys(arm, places), make)


def _keys(arm: ArmColumns, places: Sequence[int]) -> Sequence[_Key]:
    ids, conditions = arm.case_ids, arm.conditions
    return [(ids[place], conditions[place]) for place in places]


def _row(pairs: Pairs, position: int, change: Change, why_blocked: str | None) -> RowChange:
    rows = pairs.rows
    at_a, at_b = int(pairs.a.places[position]), int(pairs.b.places[position])
    a, b = side(rows.a, at_a), side(rows.b, at_b)
    reasons = (rows.a.reasons[at_a], rows.b.reasons[at_b])
    noise = None
    reason: str | None
    if change is Change.NOT_COMPARABLE:
        reason = why_blocked or "the case has another content"
    elif change in (Change.FIXED, Change.IMPROVED):
        reason = reasons[0]
    elif change is Change.UNDECIDED:
        reason = reasons[0] if a.decided == 0 else reasons[1]
    else:
        reason = reasons[1]
    if change in (Change.FIXED, Change.BROKEN):
        noise = within_noise(a.passed, a.decided, b.passed, b.decided)
    return RowChange(pairs.key(position), change, a, b, reason, noise)


def side(arm: ArmColumns, place: int) -> Side:
    """Return one row of an arm."""
    passed = arm.passed[place]
    return Side(passed, passed + arm.failed[place], arm.undecided[place], arm.scores[place])


def counts(pairs: Pairs) -> dict[Change, int]:
    """Return how many rows each class has."""
    found = {change: int(pairs.of(change).size) for change in Change}
    found[Change.NEW] = len(pairs.rows.only_b)
    found[Change.DROPPED] = len(pairs.rows.only_a)
    return found
