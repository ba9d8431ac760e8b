"""An experiment as its page shows it. Nothing here looks at all trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from fairtrial.analysis.baseline import unusable
from fairtrial.app.against_baseline import FlipCounter
from fairtrial.app.baselines import baseline_of
from fairtrial.app.bench import Bench
from fairtrial.app.experiment_gates import gate_view
from fairtrial.app.filters import row_filter
from fairtrial.app.gate_chips import baseline_now
from fairtrial.app.kept_facts import standing_of
from fairtrial.app.older import Older
from fairtrial.app.pass_rates import pass_rate_of
from fairtrial.app.reports.experiment_page import ExperimentPage, RowView
from fairtrial.app.reports.gate import GateView
from fairtrial.app.row_keys import RowKey, key_text, row_key_of
from fairtrial.model.baseline import AgainstBaseline, Baseline
from fairtrial.model.errors import FairtrialError, NotFoundError, UsageError
from fairtrial.model.experiment import Experiment, ExperimentState, GraderTotals, Status
from fairtrial.model.row import RowGlance
from fairtrial.ports import ExperimentStore, RowFilter, RowQuery
from fairtrial.stats.proportion import Rate

PAGE: Final = 50
"""Rows of a page."""
_OTHERS: Final = 20
SHOWN: Final = {
    "all": None,
    "regressed": "is:regressed",
    "improved": "is:improved",
    "undecided": "is:undecided",
    "failed": "is:failed",
}
"""The chips, each with the filter that it stands for."""


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Which page of an experiment.

    Attributes:
        baseline: What to compare with; None for the automatic order.
        show: One of `SHOWN`.
        where: A filter of rows; empty for none.
        after: The last row of the page before, as JSON.
        rule: The position of the rule of the gate whose rows are wanted; None for others.
        decide: Whether the gate of a large experiment is judged, which takes seconds once.
    """

    baseline: str | None = None
    show: str = "all"
    where: str = ""
    after: str | None = None
    rule: int | None = None
    decide: bool = True


def experiment_page(bench: Bench, ref: str, request: PageRequest) -> ExperimentPage:
    """Return an experiment with a page of its rows.

    Raises:
        NotFoundError: there is no such experiment.
    """
    store = bench.store.experiments
    state = store.find(ref)
    older = Older(bench)
    baseline, against, error = _compared(bench, state, request.baseline, older)
    other = baseline.state
    view = gate_view(
        bench,
        state,
        baseline_now(against),
        given=request.baseline is not None and not error,
        now=request.decide or request.rule is not None,
    )
    rows, n_rows, following, wrong = _rows(bench, state, against, view, request)
    glances = store.glances(state.experiment.id, rows)
    now = _sums(bench, state)
    return ExperimentPage(
        state=state,
        pass_rate=now.rate,
        graders=now.graders,
        baseline=baseline,
        against=against,
        was={}
        if other is None
        else {totals.grader: totals for totals in _sums(bench, other).graders},
        was_rate=_was_rate(bench, state, baseline, against),
        others=_others(state, older),
        gate=view,
        undecided=now.undecided,
        n_undecided=now.n_undecided,
        n_failed=now.n_failed,
        rows=_views(bench, state, glances, against),
        n_rows=n_rows,
        next=following,
        error=wrong,
        baseline_error=error,
    )


def _was_rate(
    bench: Bench, state: ExperimentState, baseline: Baseline, against: AgainstBaseline
) -> Rate | None:
    """Return the pass rate of what the rows are held against; None without a baseline."""
    store, other = bench.store.experiments, baseline.state
    if against.id == state.experiment.id:  # the first of its own arms
        return pass_rate_of(store, state.experiment, against.arm)
    if other is None:
        return None
    return pass_rate_of(store, other.experiment, other.experiment.arms[-1])


@dataclass(frozen=True, slots=True)
class _Sums:
    """What is told of all rows of an experiment."""

    rate: Rate
    graders: Sequence[GraderTotals]
    n_undecided: int
    undecided: Sequence[tuple[str | None, int]]
    n_failed: int


def _sums(bench: Bench, state: ExperimentState) -> _Sums:
    """Return the sums of an experiment; those of one that has ended are remembered."""
    if state.status is Status.RUNNING:
        return _summed(bench.store.experiments, state.experiment)
    key = ("sums", standing_of(state))
    return bench.memory.of(key, lambda: _summed(bench.store.experiments, state.experiment))


def _summed(store: ExperimentStore, experiment: Experiment) -> _Sums:
    n_undecided = store.n_rows(experiment.id, RowQuery(only="undecided"))
    return _Sums(
        rate=pass_rate_of(store, experiment, experiment.arms[-1]),
        graders=store.grader_totals(experiment.id),
        n_undecided=n_undecided,
        undecided=store.undecided_reasons(experiment.id, 5) if n_undecided else (),
        n_failed=store.n_rows(experiment.id, RowQuery(only="failed")),
    )


def row_views(
    bench: Bench, state: ExperimentState, keys: Sequence[RowKey], baseline: str | None = None
) -> Sequence[RowView]:
    """Return rows of an experiment beside those of its baseline."""
    _, against, _ = _compared(bench, state, baseline, Older(bench))
    glances = bench.store.experiments.glances(state.experiment.id, keys)
    return _views(bench, state, glances, against)


def row_key(text: str) -> RowKey:
    """Return the row that a text of JSON names: case, condition and arm.

    Raises:
        UsageError: it is no row.
    """
    found = row_key_of(text)
    if found is None:
        raise UsageError("this names no row", where="row", fix="open the row from the table")
    return found


def _compared(
    bench: Bench, state: ExperimentState, given: str | None, older: Older
) -> tuple[Baseline, AgainstBaseline, FairtrialError | None]:
    """Return the baseline, what was fixed and broken, and why the given one is not used."""
    counter = FlipCounter(bench, keep=True, older=older)
    if given is None:
        found = baseline_of(bench, state, older=older)
        # Of several arms the first one counts, whatever else there is.
        known = found.state if len(state.experiment.arms) == 1 else None
        return found, counter.of(state, known), None
    try:
        baseline = baseline_of(bench, state, given)
    except FairtrialError as error:
        return baseline_of(bench, state, older=older), counter.of(state), error
    return baseline, counter.of(state, baseline.state), None


def _others(state: ExperimentState, older: Older) -> list[ExperimentState]:
    fitting = (other for other in older.than(state) if unusable(other) is None)
    return list(islice(fitting, _OTHERS))


def _rows(
    bench: Bench,
    state: ExperimentState,
    against: AgainstBaseline,
    gate: GateView | None,
    request: PageRequest,
) -> tuple[list[RowKey], int | None, str | None, FairtrialError | None]:
    """Return the keys of a page of rows, how many fit, what leads on, and why there are none."""
    try:
        if request.rule is not None:
            return _of_rule(gate, request)
        return _of_filter(bench, state, against, request)
    except (UsageError, NotFoundError) as error:
        return [], None, None, error


def _of_rule(
    gate: GateView | None, request: PageRequest
) -> tuple[list[RowKey], int | None, str | None, None]:
    rules = () if gate is None else gate.rules
    if request.rule is None or not 0 <= request.rule < len(rules):
        raise UsageError("the gate has no such rule now", where="rule", fix="show all rows")
    rule = rules[request.rule]
    keys = list(rule.rows)
    after = None if request.after is None else row_key(request.after)
    start = keys.index(after) + 1 if after in keys else 0
    page = keys[start : start + PAGE]
    more = start + PAGE < len(keys)
    return page, rule.n_rows, key_text(page[-1]) if more else None, None


def _of_filter(
    bench: Bench, state: ExperimentState, against: AgainstBaseline, request: PageRequest
) -> tuple[list[RowKey], int | None, str | None, None]:
    store, experiment = bench.store.experiments, state.experiment
    said = [f"({part})" for part in (SHOWN.get(request.show), request.where) if part]
    # What the user typed is read by itself first, so that an error points into it.
    fitting = row_filter(bench, state, request.where, against) if request.where else None
    if len(said) > 1 or (said and fitting is None):
        fitting = row_filter(bench, state, " and ".join(said), against)
    after = None if request.after is None else row_key(request.after)
    query = RowQuery(limit=PAGE + 1, after=after, where=fitting)
    rows = store.rows(experiment.id, query)
    keys = [(row.key.case_id, row.key.condition, row.arm) for row in rows]
    more = len(keys) > PAGE
    page = keys[:PAGE]
    n_rows = _count(bench, state, fitting, len(keys) if not more and after is None else None)
    return page, n_rows, key_text(page[-1]) if more else None, None


def _count(
    bench: Bench, state: ExperimentState, fitting: RowFilter | None, known: int | None
) -> int | None:
    if known is not None:
        return known
    if fitting is None:
        return state.totals.rows
    if state.totals.rows > 20_000:
        return None  # the filter would be held against each of them
    return bench.store.experiments.n_rows(state.experiment.id, RowQuery(where=fitting))


def _views(
    bench: Bench,
    state: ExperimentState,
    glances: Sequence[RowGlance],
    against: AgainstBaseline,
) -> Sequence[RowView]:
    if against.id is None or against.arm is None:
        return [RowView(glance, None, None) for glance in glances]
    own = against.arm if against.id == state.experiment.id else None
    keys = [(*glance.row.key, against.arm) for glance in glances]
    found = {glance.row.key: glance for glance in bench.store.experiments.glances(against.id, keys)}
    return [
        RowView(glance, None, None)  # the baseline is held against nothing
        if glance.row.arm == own
        else RowView(glance, found.get(glance.row.key), _change(glance, found.get(glance.row.key)))
        for glance in glances
    ]


def _change(now: RowGlance, was: RowGlance | None) -> str | None:
    if was is None:
        return "new"
    if not (now.row.decided and was.row.decided):
        return None
    solved = 2 * now.row.passed > now.row.decided
    before = 2 * was.row.passed > was.row.decided
    if solved != before:
        return "fixed" if solved else "broken"
    gained = _mean(now) - _mean(was)
    return "improved" if gained > 1e-9 else "regressed" if gained < -1e-9 else "same"


def _mean(glance: RowGlance) -> float:
    row = glance.row
    if row.scored and row.score_sum is not None:
        return row.score_sum / row.scored
    return row.passed / row.decided
