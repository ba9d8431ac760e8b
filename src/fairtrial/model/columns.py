"""Folded rows as columns: what a comparison of a hundred thousand rows is made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fairtrial.model.case import CaseKey
from fairtrial.model.verdict import Cause


@dataclass(frozen=True, slots=True)
class GraderColumns:
    """One grader's scores in one arm, folded to rows.

    Attributes:
        rows: Positions in the arm's columns; a row without a score is absent.
        means: The mean score of each of these rows.
        n: Scores in all.
        lowest: The lowest of them; 0 when there is none.
        highest: The highest of them.
        binary: Each of them is 0 or 1.
    """

    rows: Sequence[int]
    means: Sequence[float]
    n: int
    lowest: float
    highest: float
    binary: bool


@dataclass(frozen=True, slots=True)
class ArmColumns:
    """The rows of one arm as columns of equal length, in no particular order.

    Attributes:
        case_ids: Case ids.
        conditions: Conditions.
        passed: Trials that passed.
        failed: Trials that failed.
        undecided: Trials without a verdict.
        scores: Mean main scores; None where no trial has one.
        durations: Mean seconds of a trial that told its duration; None where none did.
        costs: Mean cost of a trial that told its cost; None where none did.
        tokens: Mean tokens of a trial that told them; None where none did.
        reasons: Reasons of the first trials that did not pass.
        graders: Each grader's scores, by its name.
        causes: Trials without a verdict, by cause.
    """

    case_ids: Sequence[str]
    conditions: Sequence[str]
    passed: Sequence[int]
    failed: Sequence[int]
    undecided: Sequence[int]
    scores: Sequence[float | None]
    durations: Sequence[float | None]
    costs: Sequence[float | None]
    tokens: Sequence[float | None]
    reasons: Sequence[str | None]
    graders: Mapping[str, GraderColumns]
    causes: Mapping[Cause, int]

    @property
    def n(self) -> int:
        """Rows."""
        return len(self.case_ids)


@dataclass(frozen=True, slots=True)
class CaseLabels:
    """What groups a case: its split and its tags."""

    split: str | None
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PairedRows:
    """The rows of two arms, joined by case and condition.

    Attributes:
        a: The baseline's rows.
        b: The candidate's.
        pairs: Positions in `a` and in `b` of the rows that both have.
        only_a: Positions in `a` of the rows that B lacks.
        only_b: Positions in `b` of the rows that A lacks.
        changed: Keys in both whose case content is not the same.
        labels: Split and tags of the cases of B's version that have any.
    """

    a: ArmColumns
    b: ArmColumns
    pairs: tuple[Sequence[int], Sequence[int]]
    only_a: Sequence[int]
    only_b: Sequence[int]
    changed: frozenset[CaseKey]
    labels: Mapping[CaseKey, CaseLabels]
