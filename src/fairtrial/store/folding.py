"""Sums over trials: what a batch adds to a row's and an experiment's aggregates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from fairtrial.model.task import Reused
from fairtrial.model.verdict import Verdict

Decided: TypeAlias = tuple[int, int]
"""Passed and failed trials of a row."""
Outcome: TypeAlias = tuple[str, int, int]
"""An arm, and the passed and failed trials of a row in it."""

_PASSED = Verdict.PASSED.value
_FAILED = Verdict.FAILED.value


class TrialFacts(NamedTuple):
    """What a row's aggregates need of a trial."""

    number: int
    verdict: str
    score: float | None
    duration_s: float | None
    cost_usd: float | None
    tokens: int | None
    reason: str | None


@dataclass(slots=True)
class RowSum:
    """Aggregates over trials of one row; the fields are the columns of `trial_row` in order."""

    passed: int = 0
    failed: int = 0
    undecided: int = 0
    score_sum: float = 0.0
    scored: int = 0
    duration_s: float = 0.0
    timed: int = 0
    cost_usd: float = 0.0
    costed: int = 0
    tokens: int = 0
    tokened: int = 0
    first_trial: int | None = None
    first_reason: str | None = None

    def add(self, trial: TrialFacts) -> None:
        """Add one trial."""
        number, verdict, score, duration_s, cost_usd, tokens, reason = trial
        if verdict == _PASSED:
            self.passed += 1
        else:
            if verdict == _FAILED:
                self.failed += 1
            else:
                self.undecided += 1
            if self.first_trial is None or number < self.first_trial:
                self.first_trial = number
                self.first_reason = reason
        if score is not None:
            self.score_sum += score
            self.scored += 1
        if duration_s is not None:
            self.duration_s += duration_s
            self.timed += 1
        if cost_usd is not None:
            self.cost_usd += cost_usd
            self.costed += 1
        if tokens is not None:
            self.tokens += tokens
            self.tokened += 1

    def columns(self) -> tuple[object, ...]:
        """Return the fields in the order of the columns."""
        return (
            self.passed,
            self.failed,
            self.undecided,
            self.score_sum,
            self.scored,
            self.duration_s,
            self.timed,
            self.cost_usd,
            self.costed,
            self.tokens,
            self.tokened,
            self.first_trial,
            self.first_reason,
        )


@dataclass(slots=True)
class GraderSum:
    """What a batch adds to one grader's totals; `removed` is the size of what it took away."""

    scored: int = 0
    total: int = 0
    value_sum: float = 0.0
    passed: int = 0
    removed: float = 0.0

    def add(self, value: float | None, *, passed: bool | None) -> None:
        """Add one score."""
        self.total += 1
        if value is not None:
            self.scored += 1
            self.value_sum += value
        if passed:
            self.passed += 1

    def remove(self, value: float | None, *, passed: bool | None) -> None:
        """Take one score away."""
        self.total -= 1
        if value is not None:
            self.scored -= 1
            self.value_sum -= value
            self.removed += abs(value)
        if passed:
            self.passed -= 1


@dataclass(slots=True)
class ReuseSum:
    """What a batch adds to the answers served again; the fields are columns in order."""

    trials: int = 0
    calls: int = 0
    tokens: int = 0
    tokened: int = 0
    cost_usd: float = 0.0
    costed: int = 0

    def add(self, reused: Reused, sign: int = 1) -> None:
        """Add what one trial reused; a negative sign takes it away."""
        self.trials += sign
        self.calls += sign * reused.calls
        total = None if reused.tokens is None else reused.tokens.total
        if total is not None:
            self.tokens += sign * total
            self.tokened += sign
        if reused.cost_usd is not None:
            self.cost_usd += sign * reused.cost_usd
            self.costed += sign

    def columns(self) -> tuple[object, ...]:
        """Return the fields in the order of the columns."""
        return (self.trials, self.calls, self.tokens, self.tokened, self.cost_usd, self.costed)


@dataclass(slots=True)
class ExperimentSum:
    """What a batch adds to an experiment's totals; `removed_…` as in `GraderSum`."""

    passed: int = 0
    failed: int = 0
    undecided: int = 0
    rows: int = 0
    flaky_rows: int = 0
    cost_usd: float = 0.0
    costed: int = 0
    duration_s: float = 0.0
    timed: int = 0
    grading_cost_usd: float = 0.0
    grading_costed: int = 0
    removed_cost: float = 0.0
    removed_duration: float = 0.0
    removed_grading: float = 0.0
    causes: dict[str, int] = field(default_factory=dict)
    outcomes: dict[Outcome, int] = field(default_factory=dict)
    graders: dict[int, GraderSum] = field(default_factory=dict)
    reuses: dict[str, ReuseSum] = field(default_factory=dict)

    def change_row(self, arm: str, before: Decided | None, after: Decided) -> None:
        """Note how a row stood before and stands after; it is new when it stood nowhere."""
        self._shift((arm, *after), 1)
        self.flaky_rows += _flaky(after)
        if before is None:
            self.rows += 1
        else:
            self._shift((arm, *before), -1)
            self.flaky_rows -= _flaky(before)

    def _shift(self, outcome: Outcome, rows: int) -> None:
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + rows

    def add_trials(self, row: RowSum) -> None:
        """Add the new trials of one row."""
        self.passed += row.passed
        self.failed += row.failed
        self.undecided += row.undecided
        self.cost_usd += row.cost_usd
        self.costed += row.costed
        self.duration_s += row.duration_s
        self.timed += row.timed

    def remove(
        self, verdict: str, cause: str | None, duration_s: float | None, cost_usd: float | None
    ) -> None:
        """Take one trial away, without its scores."""
        if verdict == _PASSED:
            self.passed -= 1
        elif verdict == _FAILED:
            self.failed -= 1
        else:
            self.undecided -= 1
        if cause is not None:
            self.add_cause(cause, -1)
        if duration_s is not None:
            self.duration_s -= duration_s
            self.timed -= 1
            self.removed_duration += abs(duration_s)
        if cost_usd is not None:
            self.cost_usd -= cost_usd
            self.costed -= 1
            self.removed_cost += abs(cost_usd)

    def add_grading(self, cost_usd: float) -> None:
        """Add what grading one trial cost."""
        self.grading_cost_usd += cost_usd
        self.grading_costed += 1

    def remove_grading(self, cost_usd: float) -> None:
        """Take what grading one trial cost away."""
        self.grading_cost_usd -= cost_usd
        self.grading_costed -= 1
        self.removed_grading += abs(cost_usd)

    def reuse(self, source: str) -> ReuseSum:
        """Return the sums of answers served again from a source."""
        if source not in self.reuses:
            self.reuses[source] = ReuseSum()
        return self.reuses[source]

    def add_cause(self, cause: str, trials: int) -> None:
        """Add trials that have this cause."""
        self.causes[cause] = self.causes.get(cause, 0) + trials

    def grader(self, position: int) -> GraderSum:
        """Return the sums of the grader at a position."""
        if position not in self.graders:
            self.graders[position] = GraderSum()
        return self.graders[position]


def _flaky(row: Decided) -> bool:
    return row[0] > 0 and row[1] > 0
