"""A comparison as its page shows it: `exp compare`, and its rows with what both sides gave."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from fairtrial.analysis.baseline import unusable
from fairtrial.analysis.comparing.compare import Compare
from fairtrial.analysis.comparing.grader_moves import Moved, grader_moves
from fairtrial.analysis.comparing.listing import same
from fairtrial.app.bench import Bench
from fairtrial.app.chosen_arms import ChosenArm, arms_to_compare, experiment_and_arm
from fairtrial.app.exp_compare import compared
from fairtrial.app.older import earlier
from fairtrial.app.reports.comparison import ComparisonReport
from fairtrial.app.requests.exp_compare import Gate
from fairtrial.app.requests.exp_compare import Request as CompareRequest
from fairtrial.model.case import CaseKey
from fairtrial.model.comparison import Change, Compared, RowChange
from fairtrial.model.errors import UsageError
from fairtrial.model.experiment import ExperimentState
from fairtrial.model.row import RowGlance

PAGE: Final = 25
_OTHERS: Final = 20
GROUPS: Final[Mapping[str, tuple[Change, ...]]] = {
    "regressed": (Change.BROKEN, Change.REGRESSED),
    "improved": (Change.FIXED, Change.IMPROVED),
    "same": (Change.SAME,),
    "new": (Change.NEW,),
    "dropped": (Change.DROPPED,),
    "undecided": (Change.UNDECIDED,),
    "not_comparable": (Change.NOT_COMPARABLE,),
}
"""Which changes stand under one heading, in the order of the headings."""


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """A row of both sides.

    Attributes:
        change: What became of it.
        a: The baseline's; None when it has none.
        b: The candidate's.
    """

    change: RowChange
    a: RowGlance | None
    b: RowGlance | None


@dataclass(frozen=True, slots=True)
class ComparePage:
    """A comparison with a page of its rows.

    Attributes:
        report: What `exp compare` says.
        a: The baseline.
        b: The candidate.
        moves: What became of the rows of each grader.
        show: Which of `GROUPS` the rows are of.
        counts: How many rows each group has.
        rows: A page of them.
        next: What leads to the page after; None on the last.
        others: What else may be the baseline, the newest first.
    """

    report: ComparisonReport
    a: ExperimentState
    b: ExperimentState
    moves: Mapping[str, Moved]
    show: str
    counts: Mapping[str, int]
    rows: Sequence[ComparedRow]
    next: str | None
    others: Sequence[ExperimentState]


@dataclass(frozen=True, slots=True)
class ComparePageRequest:
    """Which comparison, and which of its rows.

    Attributes:
        a: The baseline, `EXPERIMENT` or `EXPERIMENT:ARM`; None for the one that B has.
        b: The candidate.
        show: One of `GROUPS`; None for the first that has rows.
        after: The last row of the page before, as JSON.
        gate: Whether to decide between ship and hold.
    """

    a: str | None
    b: str
    show: str | None = None
    after: str | None = None
    gate: bool = False


def compare_page(bench: Bench, request: ComparePageRequest) -> ComparePage:
    """Compare two experiments, and return a page of their rows.

    Raises:
        NotFoundError: there is no such experiment, or B has no baseline.
        UsageError: an arm is not named or not there, or A and B are the same.
    """
    a, b = _sides(bench, request)
    # What there is of an unfinished one is shown, with what is wrong about it.
    asked = CompareRequest(a, b, force=True, ship=Gate(gate=request.gate))
    found, report = compared(bench, asked)
    counted = report.comparison.counts
    counts = {name: sum(counted[one] for one in group) for name, group in GROUPS.items()}
    show = request.show or _first(counts, comparable=report.comparison.comparable)
    rows, following = _rows(found, show, request.after)
    sides = report.comparison.a, report.comparison.b
    glances = [_glances(bench, side.id, side.arm, rows) for side in sides]
    store = bench.store.experiments
    state = store.find(sides[1].id)
    return ComparePage(
        report=report,
        a=store.find(sides[0].id),
        b=state,
        moves=grader_moves(found),
        show=show,
        counts=counts,
        rows=[ComparedRow(row, glances[0].get(row.key), glances[1].get(row.key)) for row in rows],
        next=following,
        others=_others(bench, state),
    )


def _first(counts: Mapping[str, int], *, comparable: bool) -> str:
    """Return the heading whose rows are shown when none is chosen."""
    if not comparable and counts["not_comparable"]:
        return "not_comparable"
    return next((name for name, n in counts.items() if n), "regressed")


def compared_rows(bench: Bench, request: ComparePageRequest) -> tuple[Compared, Compared]:
    """Return both sides of a comparison without comparing them: for one row.

    Raises:
        NotFoundError: there is no such experiment, or B has no baseline.
        UsageError: an arm is not named or not there, or A and B are the same.
    """
    first, second, _ = arms_to_compare(bench, *_sides(bench, request))
    return _compared(first), _compared(second)


def _compared(side: ChosenArm) -> Compared:
    experiment = side.experiment
    rows = side.state.totals.rows
    dataset = experiment.dataset_ref
    return Compared(
        experiment.id, experiment.name, side.arm, dataset, experiment.trials, rows, side.label
    )


def _sides(bench: Bench, request: ComparePageRequest) -> tuple[str, str | None]:
    if request.a is None:
        return request.b, None
    return _last_arm(bench, request.a), _last_arm(bench, request.b)


def _last_arm(bench: Bench, ref: str) -> str:
    """Return a reference with its arm; of several the last, as a baseline has it."""
    state, named = experiment_and_arm(bench, ref)
    arms = state.experiment.arms
    if named is not None or len(arms) == 1:
        return ref
    return f"{state.experiment.id}:{arms[-1]}"


def _others(bench: Bench, state: ExperimentState) -> list[ExperimentState]:
    fitting = (other for other in earlier(bench, state) if unusable(other) is None)
    return list(islice(fitting, _OTHERS))


def _rows(found: Compare, show: str, after: str | None) -> tuple[list[RowChange], str | None]:
    """Return a page of the rows under a heading, and what leads on."""
    changes = GROUPS[show]
    start = None if after is None else _place(after)
    page: list[RowChange] = []
    for change in changes:
        if start is not None and changes.index(start[0]) > changes.index(change):
            continue
        rows = _all(found, change)
        first = 0
        if start is not None and start[0] is change:
            first = bisect_right(rows, start[1], key=lambda row: row.key)
        page += rows[first : first + PAGE + 1 - len(page)]
        if len(page) > PAGE:
            break
    more = len(page) > PAGE
    page = page[:PAGE]
    return page, _place_text(page[-1]) if more else None


def _all(found: Compare, change: Change) -> Sequence[RowChange]:
    return same(found.pairs) if change is Change.SAME else found.comparison.rows[change]


def _place(text: str) -> tuple[Change, CaseKey]:
    try:
        match json.loads(text):
            case [str(change), str(case_id), str(condition)]:
                return Change(change), CaseKey(case_id, condition)
    except (ValueError, RecursionError):
        pass
    raise UsageError("this names no row", where="after", fix="begin with the first page")


def _place_text(row: RowChange) -> str:
    return json.dumps([row.change.value, *row.key], ensure_ascii=False, separators=(",", ":"))


def _glances(
    bench: Bench, experiment_id: str, arm: str, rows: Sequence[RowChange]
) -> dict[CaseKey, RowGlance]:
    keys = [(row.key.case_id, row.key.condition, arm) for row in rows]
    found = bench.store.experiments.glances(experiment_id, keys)
    return {glance.row.key: glance for glance in found}
