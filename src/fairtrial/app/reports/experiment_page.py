"""What a page of an experiment says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fairtrial.app.reports.gate import GateView
from fairtrial.model.baseline import AgainstBaseline, Baseline
from fairtrial.model.errors import FairtrialError
from fairtrial.model.experiment import ExperimentState, GraderTotals
from fairtrial.model.row import RowGlance
from fairtrial.stats.proportion import Rate


@dataclass(frozen=True, slots=True)
class RowView:
    """A row in the table.

    Attributes:
        glance: The row.
        was: The same row of the baseline; None when it has none.
        change: `fixed`, `broken`, `improved`, `regressed`, `same`, `new`, or None without a
            baseline or a verdict on both sides.
    """

    glance: RowGlance
    was: RowGlance | None
    change: str | None


@dataclass(frozen=True, slots=True)
class ExperimentPage:
    """An experiment with a page of its rows.

    Attributes:
        state: The experiment.
        pass_rate: Over the cases of its last arm.
        graders: Each grader's totals.
        baseline: What it is compared with, and why.
        against: What it fixed and broke.
        was: The baseline's totals of its graders, by name.
        was_rate: The baseline's pass rate.
        others: Experiments that may be its baseline, the newest first.
        gate: What its release gate says; None without rules.
        undecided: The reasons of its undecided rows, with how many rows have each.
        n_undecided: How many rows have an undecided trial.
        n_failed: How many rows have a failed trial.
        rows: A page of rows.
        n_rows: How many rows fit on all pages; None when nobody counted.
        next: What leads to the page after; None on the last.
        error: Why no rows are listed.
        baseline_error: Why the baseline that was chosen for this look is not used.
    """

    state: ExperimentState
    pass_rate: Rate
    graders: Sequence[GraderTotals]
    baseline: Baseline
    against: AgainstBaseline
    was: Mapping[str, GraderTotals]
    was_rate: Rate | None
    others: Sequence[ExperimentState]
    gate: GateView | None
    undecided: Sequence[tuple[str | None, int]]
    n_undecided: int
    n_failed: int
    rows: Sequence[RowView]
    n_rows: int | None
    next: str | None
    error: FairtrialError | None = None
    baseline_error: FairtrialError | None = None
