"""A rule of a release gate as the user wrote it, and what it came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from fairtrial.model.case import CaseKey
from fairtrial.model.json import Json


@dataclass(frozen=True, slots=True)
class Bound:
    """What a number must be; one of the two, or both."""

    at_least: float | str | None = None
    """Smallest value that keeps the rule: a number, or a share such as "8/10"."""
    at_most: float | str | None = None
    """Largest value that keeps the rule."""


@dataclass(frozen=True, slots=True)
class RowBound:
    """What each row must show; one of the two."""

    passed: Bound | None = None
    """Share of a row's decided trials that passed."""
    mean: Bound | None = None
    """A row's mean score: the grader's, or the main score without one."""


@dataclass(frozen=True, slots=True)
class DeltaBound:
    """What the difference to the baseline must be; exactly one of the measures."""

    pass_rate: Bound | None = None
    """Pass rate less the baseline's, over the rows of both."""
    mean: Bound | None = None
    """Mean of the grader less the baseline's; needs `grader`."""
    broken: Bound | None = None
    """How many rows the baseline solved and this one does not."""
    cost_ratio: Bound | None = None
    """Mean cost of a trial as a multiple of the baseline's; 1 is the same."""
    duration_ratio: Bound | None = None
    """Mean duration of a trial as a multiple of the baseline's."""
    by: Literal["estimate", "interval"] = "estimate"
    """`estimate`, or `interval`: the whole 95 % interval must keep the bound, as in a
    non-inferiority test."""


@dataclass(frozen=True, slots=True)
class SpendBound:
    """What may be spent; one of the two, or both."""

    total_at_most: float | None = None
    """Most for all trials together."""
    mean_at_most: float | None = None
    """Most for a trial on average."""


@dataclass(frozen=True, slots=True)
class GateRule:
    """One rule: which rows it looks at, and exactly one measure with its bound."""

    name: str | None = None
    """What to call it in reports; made from its content unless given."""
    grader: str | None = None
    """The grader that `pass_rate`, `mean`, `every_row` or `delta` is about; without one, the
    verdict and the main score."""
    condition: str | None = None
    """Only rows of this condition."""
    tag: str | None = None
    """Only rows whose case has this tag."""
    split: str | None = None
    """Only rows whose case is in this split."""
    pass_rate: Bound | None = None
    """Mean over rows of the share of their decided trials that passed; a share from 0 to 1."""
    mean: Bound | None = None
    """Mean over rows of their mean score."""
    every_row: RowBound | None = None
    """What each row must show by itself."""
    undecided_rows: Bound | None = None
    """How many rows have no decided trial; those that the platform caused are left out."""
    delta: DeltaBound | None = None
    """The difference to the baseline."""
    cost_usd: SpendBound | None = None
    """US dollars that the trials reported."""
    duration_s: SpendBound | None = None
    """Seconds that the trials took."""


MEASURES = (
    "pass_rate",
    "mean",
    "every_row",
    "undecided_rows",
    "delta",
    "cost_usd",
    "duration_s",
)
"""The fields of a rule of which it has exactly one."""
FILTERS = ("condition", "tag", "split")


@dataclass(frozen=True, slots=True)
class RuleResult:
    """What one rule came to.

    Attributes:
        name: What to call it.
        passed: Whether it is kept; None when that cannot be said.
        actual: The value it was held against; None when there is none.
        shown: The value in words.
        reason: Why it cannot be said, or what was left out; None when there is nothing to say.
        rows: The rows that broke it, worst first where there is an order.
        rule: The rule as it was written.
    """

    name: str
    passed: bool | None
    actual: float | None
    shown: str
    reason: str | None
    rows: tuple[CaseKey, ...]
    rule: Mapping[str, Json]
