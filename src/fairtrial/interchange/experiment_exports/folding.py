"""Folds trials into rows, one at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from fairtrial.model.case import CaseKey
from fairtrial.model.trial import Trial
from fairtrial.model.verdict import Cause, Verdict


class Outcome(StrEnum):
    """What a row came to."""

    PASSED = "passed"
    """Every trial that has a verdict passed."""
    FAILED = "failed"
    """No trial passed; a grader failed at least one."""
    FLAKY = "flaky"
    """Some trials passed and some failed."""
    ERROR = "error"
    """No trial passed, and each failure is the task's own: a crash, or its time limit."""
    UNDECIDED = "undecided"
    """No trial has a verdict."""


@dataclass(frozen=True, slots=True)
class FoldedRow:
    """The trials of one case under one condition in one arm.

    Attributes:
        key: The case and its condition.
        arm: The arm's name.
        trials: Its trials by number; never empty.
    """

    key: CaseKey
    arm: str
    trials: tuple[Trial, ...]

    @property
    def passed(self) -> int:
        """Trials that passed."""
        return sum(trial.verdict is Verdict.PASSED for trial in self.trials)

    @property
    def failed(self) -> tuple[Trial, ...]:
        """Trials that failed."""
        return tuple(trial for trial in self.trials if trial.verdict is Verdict.FAILED)

    @property
    def outcome(self) -> Outcome:
        """What the row came to."""
        passed, failed = self.passed, self.failed
        if failed:
            if passed:
                return Outcome.FLAKY
            errors = all(trial.cause in (Cause.TASK, Cause.LIMIT) for trial in failed)
            return Outcome.ERROR if errors else Outcome.FAILED
        return Outcome.PASSED if passed else Outcome.UNDECIDED

    @property
    def counts(self) -> str:
        """The row in words, e.g. `1 of 3 trials failed, 1 undecided`."""
        total, failed = len(self.trials), len(self.failed)
        undecided = total - failed - self.passed
        noun = "trial" if total == 1 else "trials"
        if not failed:
            return f"{undecided or self.passed} of {total} {noun} " + (
                "undecided" if undecided else "passed"
            )
        return f"{failed} of {total} {noun} failed" + (
            f", {undecided} undecided" if undecided else ""
        )

    @property
    def first_reason(self) -> str | None:
        """The reason of its first failed trial, or else of its first undecided one."""
        unsettled = [trial for trial in self.trials if trial.verdict is not Verdict.PASSED]
        unsettled.sort(key=lambda trial: trial.verdict is Verdict.UNDECIDED)
        return next((reason_of(trial) for trial in unsettled), None)


def reason_of(trial: Trial) -> str:
    """Return why a trial did not pass, in one line of unknown length."""
    cause = f"{trial.cause}: " if trial.cause else ""
    return cause + (trial.reason or "no reason was given")


def fold(trials: Iterable[Trial]) -> Iterator[FoldedRow]:
    """Yield the rows of trials that are ordered by case, condition, arm and trial number."""
    for (key, arm), group in groupby(trials, lambda trial: (trial.key.case_key, trial.key.arm)):
        yield FoldedRow(key, arm, tuple(group))
