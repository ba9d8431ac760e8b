"""A row: the folded view of the trials of one case, condition and arm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fairtrial.model.case import CaseKey
from fairtrial.model.json import Json


@dataclass(frozen=True, slots=True)
class Row:
    """Counts over the finished trials of one case under one condition in one arm.

    Attributes:
        key: The case and its condition.
        arm: The arm's name.
        passed: Trials that passed.
        failed: Trials that failed.
        undecided: Trials without a verdict; in no rate.
        score_sum: Sum of the main scores that exist; None when none does.
        scored: How many main scores exist.
        duration_s: Total of the durations that are known; None when none is.
        timed: How many trials have a known duration.
        cost_usd: Total of the costs that are known; None when none is.
        first_reason: The reason of its first trial that did not pass.
    """

    key: CaseKey
    arm: str
    passed: int
    failed: int
    undecided: int
    score_sum: float | None
    scored: int
    duration_s: float | None
    timed: int
    cost_usd: float | None
    first_reason: str | None

    @property
    def decided(self) -> int:
        """Trials with a verdict."""
        return self.passed + self.failed

    @property
    def mean_duration_s(self) -> float | None:
        """Mean seconds of the trials whose duration is known; None when none is."""
        return None if self.duration_s is None else self.duration_s / self.timed

    @property
    def flaky(self) -> bool:
        """Some of its trials passed and some failed."""
        return 0 < self.passed < self.decided


@dataclass(frozen=True, slots=True)
class RowGlance:
    """A row with what a table shows of it.

    Attributes:
        row: The row.
        scores: The mean value of each grader that gave one.
        input: The case's input; None when it is too long for a table, or not in this store.
        output: What its first trial gave; None when that is too long, or was removed.
        long_input: Whether the input is too long for a table.
        long_output: Whether the output is.
    """

    row: Row
    scores: Mapping[str, float]
    input: Json
    output: Json
    long_input: bool = False
    long_output: bool = False
