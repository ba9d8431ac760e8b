"""Several experiments as columns, and the rows that all of them share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from fairtrial.app.baselines import baseline_of
from fairtrial.app.bench import Bench
from fairtrial.app.chosen_arms import ChosenArm, experiment_and_arm
from fairtrial.app.experiment_page import row_key
from fairtrial.app.gate_chips import BaselineNow, GateChips
from fairtrial.app.pass_rates import pass_rate_of
from fairtrial.app.reports.gate import GateChip
from fairtrial.model.case import CaseKey
from fairtrial.model.errors import UsageError
from fairtrial.model.experiment import GraderTotals
from fairtrial.model.row import RowGlance
from fairtrial.ports import RowQuery
from fairtrial.stats.proportion import Rate

FEWEST: Final = 2
MOST: Final = 8
MOST_SCORERS: Final = 6
SHOWN: Final = ("all", "differ", "failed")
_PAGE: Final = 50
_READ: Final = 200
_LOOKED_AT: Final = 4_000
"""Rows of the first experiment that are looked at for one page."""
_SAME: Final = 1e-9


@dataclass(frozen=True, slots=True)
class SideBySideRequest:
    """What stands side by side.

    Attributes:
        refs: The experiments, `EXPERIMENT` or `EXPERIMENT:ARM`; the last arm without one.
        by: The scorers to compare by; none for the verdict alone.
        show: One of `SHOWN`.
        after: The last row of the page before, as JSON.
    """

    refs: Sequence[str]
    by: Sequence[str] | None = None
    show: str = "all"
    after: str | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """One experiment.

    Attributes:
        chosen: It, and the arm of it.
        gate: Where it stands at the release gate.
        rate: Its pass rate.
        graders: Its graders' totals, by name.
    """

    chosen: ChosenArm
    gate: GateChip
    rate: Rate
    graders: Mapping[str, GraderTotals]


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Experiments side by side.

    Attributes:
        columns: The experiments.
        scorers: What may be compared by: what any of them was scored by.
        by: What they are compared by.
        rows: Rows that all of them have: one glance for each experiment.
        looked_at: Rows of the first experiment that this page took.
        next: What leads to the page after; None on the last.
    """

    columns: Sequence[Column]
    scorers: Sequence[str]
    by: Sequence[str]
    rows: Sequence[Sequence[RowGlance]]
    looked_at: int
    next: tuple[str, str, str] | None


def side_by_side(bench: Bench, request: SideBySideRequest) -> SideBySide:
    """Return experiments side by side, with a page of the rows that they share.

    Raises:
        NotFoundError: there is no such experiment.
        UsageError: these are too few or too many, one is named twice, or there is no such scorer.
    """
    chosen = chosen_columns(bench, request.refs)
    store, gates = bench.store.experiments, GateChips(bench)
    columns = [
        Column(
            one,
            gates.of(one.state, _baseline(bench, one)),
            pass_rate_of(store, one.experiment, one.arm),
            _totals(bench, one),
        )
        for one in chosen
    ]
    scorers = list(dict.fromkeys(name for column in columns for name in column.graders))
    by = _scorers(request.by, scorers, columns)
    rows, looked_at, following = _rows(bench, chosen, request, by)
    return SideBySide(columns, scorers, by, rows, looked_at, following)


def _totals(bench: Bench, one: ChosenArm) -> Mapping[str, GraderTotals]:
    """Return the totals of each grader; without numbers for one arm of several.

    What is kept sums up all arms of an experiment.
    """
    kept = bench.store.experiments.grader_totals(one.experiment.id)
    if len(one.experiment.arms) > 1:
        kept = [replace(totals, mean=None) for totals in kept]
    return {totals.grader: totals for totals in kept}


def chosen_columns(bench: Bench, refs: Sequence[str]) -> Sequence[ChosenArm]:
    """Return the experiments that stand side by side.

    Raises:
        NotFoundError: there is no such experiment.
        UsageError: these are too few or too many, or one is named twice.
    """
    if not FEWEST <= len(refs) <= MOST:
        raise UsageError(
            f"side by side takes {FEWEST} to {MOST} experiments, not {len(refs)}",
            fix="tick them in the list of experiments",
        )
    found = []
    for ref in refs:
        state, named = experiment_and_arm(bench, ref)
        found.append(ChosenArm(state, named or state.experiment.arms[-1]))
    if len({one.key for one in found}) < len(found):
        raise UsageError("one experiment is named twice", fix="name each once")
    return found


def _baseline(bench: Bench, one: ChosenArm) -> BaselineNow | None:
    found = baseline_of(bench, one.state).state
    return None if found is None else (found.experiment.id, found.heartbeat_at)


def _scorers(
    asked: Sequence[str] | None, known: Sequence[str], columns: Sequence[Column]
) -> Sequence[str]:
    if asked is None:
        # What all of them have says most; a single grader says what the verdict says.
        shared = [name for name in known if all(name in column.graders for column in columns)]
        return shared[:MOST_SCORERS] if len(shared) > 1 else ()
    unknown = [name for name in asked if name not in known]
    if unknown:
        raise UsageError(
            f"none of them was scored by {unknown[0]}",
            where="by",
            fix=f"choose among: {', '.join(known)}" if known else "leave it out",
        )
    if len(asked) > MOST_SCORERS:
        raise UsageError(f"at most {MOST_SCORERS} scorers fit, not {len(asked)}", where="by")
    return list(dict.fromkeys(asked))


def _rows(
    bench: Bench, chosen: Sequence[ChosenArm], request: SideBySideRequest, by: Sequence[str]
) -> tuple[list[Sequence[RowGlance]], int, tuple[str, str, str] | None]:
    after = None if request.after is None else row_key(request.after)
    first, store = chosen[0], bench.store.experiments
    found: list[Sequence[RowGlance]] = []
    looked_at = 0
    while looked_at < _LOOKED_AT:
        query = RowQuery(limit=_READ, after=after, arm=first.arm)
        read = store.rows(first.experiment.id, query)
        for row in _shared(bench, chosen, [one.key for one in read]):
            if not _fits(row, request.show, by):
                continue
            if len(found) == _PAGE:
                last = found[-1][0].row
                return found, looked_at, (*last.key, last.arm)
            found.append(row)
        looked_at += len(read)
        if len(read) < _READ:
            return found, looked_at, None
        after = (*read[-1].key, read[-1].arm)
    return found, looked_at, after


def _shared(
    bench: Bench, chosen: Sequence[ChosenArm], keys: Sequence[CaseKey]
) -> list[list[RowGlance]]:
    """Return the rows with these keys that all have, one glance for each experiment."""
    sides = []
    for one in chosen:
        wanted = [(*key, one.arm) for key in keys]
        glances = bench.store.experiments.glances(one.experiment.id, wanted)
        sides.append({glance.row.key: glance for glance in glances})
        keys = [key for key in keys if key in sides[-1]]
    return [[side[key] for side in sides] for key in keys]


def _fits(row: Sequence[RowGlance], show: str, by: Sequence[str]) -> bool:
    if show == "failed":
        return any(glance.row.failed for glance in row)
    if show == "differ":
        return _differ(row, by)
    return True


def _differ(row: Sequence[RowGlance], by: Sequence[str]) -> bool:
    """Return whether verdicts, or scores by what was chosen, are not the same in all."""
    if len({_standing(glance) for glance in row}) > 1:
        return True
    for name in by:
        values = [glance.scores[name] for glance in row if name in glance.scores]
        if values and (len(values) < len(row) or max(values) - min(values) > _SAME):
            return True
    return False


def _standing(glance: RowGlance) -> bool | None:
    """Return whether a row is solved; None without a verdict."""
    row = glance.row
    return 2 * row.passed > row.decided if row.decided else None
