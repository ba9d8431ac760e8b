"""Two experiments beside each other: how each row changed, and what that adds up to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from fairtrial.model.case import CaseKey
from fairtrial.model.delta import Delta, Quantity, Slice, SmallestVisible
from fairtrial.model.verdict import Cause


class Change(StrEnum):
    """What became of a row from A to B.

    A row is *solved* when it passed in more than half of its decided trials.
    """

    FIXED = "fixed"
    """Solved in B only."""
    BROKEN = "broken"
    """Solved in A only."""
    IMPROVED = "improved"
    """Passed more often, or scored higher, without a flip."""
    REGRESSED = "regressed"
    """Passed less often, or scored lower, without a flip."""
    SAME = "same"
    """Passed as often and scored the same."""
    NEW = "new"
    """In B only."""
    DROPPED = "dropped"
    """In A only."""
    UNDECIDED = "undecided"
    """Without a decided trial in A or in B."""
    NOT_COMPARABLE = "not_comparable"
    """A and B did not measure the same thing; the row's reason says what differs."""


PAIRED = (Change.FIXED, Change.BROKEN, Change.IMPROVED, Change.REGRESSED, Change.SAME)
"""The classes that count: decided on both sides and comparable."""
LISTED = tuple(change for change in Change if change is not Change.SAME)
"""The classes whose rows are worth a list."""


@dataclass(frozen=True, slots=True)
class FlipCounts:
    """How many rows flipped from A to B.

    Attributes:
        fixed: Solved in B only.
        broken: Solved in A only.
        compared: Rows that could flip: in both, decided in both, with the same content.
    """

    fixed: int
    broken: int
    compared: int


@dataclass(frozen=True, slots=True)
class Side:
    """A row's trials in one arm, folded.

    Attributes:
        passed: Trials that passed.
        decided: Trials with a verdict.
        undecided: Trials without one.
        score: Mean main score over the trials that have one; None when none does.
    """

    passed: int
    decided: int
    undecided: int
    score: float | None

    @property
    def solved(self) -> bool:
        """Whether it passed in more than half of its decided trials; one of two is not solved."""
        return 2 * self.passed > self.decided


@dataclass(frozen=True, slots=True)
class RowChange:
    """One row of both experiments.

    Attributes:
        key: The case and its condition.
        change: What became of it.
        a: Its trials in A; None when A did not run it.
        b: Its trials in B; None when B did not run it.
        reason: Why it is not comparable, or the first reason of a trial that did not pass, of
            the side that changed for the worse.
        within_noise: For a flip, whether its own trials could differ so by luck alone; None when
            it did not flip, or when so few trials could not tell in any case.
    """

    key: CaseKey
    change: Change
    a: Side | None
    b: Side | None
    reason: str | None = None
    within_noise: bool | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    """One side of a comparison.

    Attributes:
        id: The experiment's id.
        name: Its name.
        arm: The arm that is compared.
        dataset: Its dataset version, `NAME@NUMBER`.
        trials: Planned trials a row.
        rows: Rows on record in that arm.
        label: What to call it: its name, or another word when both sides have the same.
    """

    id: str
    name: str
    arm: str
    dataset: str
    trials: int
    rows: int
    label: str


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that keeps rows from being compared, or makes a comparison doubtful.

    Attributes:
        what: What differs or is missing, in one sentence without a final full stop.
        rows: How many rows it takes out; 0 when it only warns.
        fix: What to do about it.
    """

    what: str
    rows: int = 0
    fix: str | None = None


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of both experiments the numbers rest on.

    Attributes:
        paired: Rows that count: in both, decided in both, comparable.
        total: Rows in either.
        share: Paired rows as a share of A's; None when A has none.
        undecided_a: Trials without a verdict in A, by cause.
        undecided_b: The same in B.
        lost_a: Share of A's trials without a verdict; None without trials.
        lost_b: The same in B.
    """

    paired: int
    total: int
    share: float | None
    undecided_a: Mapping[Cause, int]
    undecided_b: Mapping[Cause, int]
    lost_a: float | None
    lost_b: float | None


@dataclass(frozen=True, slots=True)
class FlipNoise:
    """How many flips the rows' own trials could have brought about by luck.

    Attributes:
        within: Flips that luck alone could explain.
        beyond: Flips that it hardly could.
        unknown: Flips with too few trials to tell.
    """

    within: int
    beyond: int
    unknown: int


@dataclass(frozen=True, slots=True)
class Bin:
    """How many rows changed by how much.

    Attributes:
        lower: The smallest difference of pass rates in it.
        upper: The largest; equal to `lower` when each difference has a bin of its own.
        rows: Rows in it.
    """

    lower: float
    upper: float
    rows: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """B against A, row by row and over all.

    Attributes:
        a: The baseline.
        b: The candidate.
        problems: What keeps rows from being compared, and what to beware of.
        counts: Rows of each class; every class is there.
        rows: The rows of each class but `same`, sorted by key; made when they are read.
        delta: Pass rate of B less that of A, over the rows that count.
        graders: Each grader's mean, with Holm's p over all graders.
        slices: The pass rate on each tag, split and condition, with Holm's p over all slices.
        slices_left_out: Slices beyond the most that are tested, the smallest ones.
        quantities: Cost, tokens and duration of a trial.
        coverage: How much the numbers rest on.
        noise: How many flips could be luck.
        smallest: The smallest difference that would have shown.
        matrix: Rows by (passes in A, passes in B).
        histogram: Rows by how much their pass rate changed.
        sentence: What it all means, for a reader who knows no statistics.
    """

    a: Compared
    b: Compared
    problems: tuple[Problem, ...]
    counts: Mapping[Change, int]
    rows: Mapping[Change, Sequence[RowChange]]
    delta: Delta
    graders: tuple[Slice, ...]
    slices: tuple[Slice, ...]
    slices_left_out: int
    quantities: tuple[Quantity, ...]
    coverage: Coverage
    noise: FlipNoise
    smallest: SmallestVisible
    matrix: Mapping[tuple[int, int], int] = field(default_factory=dict)
    histogram: tuple[Bin, ...] = ()
    sentence: str = ""

    @property
    def comparable(self) -> bool:
        """Whether at least one row could be compared."""
        return self.coverage.paired > 0
