"""`exp list`: experiments, newest first."""

from __future__ import annotations

from collections.abc import Sequence

from fairtrial.app.against_baseline import FlipCounter
from fairtrial.app.bench import Bench
from fairtrial.app.filters import filter_of
from fairtrial.app.gate_chips import GateChips, baseline_now
from fairtrial.app.reports.experiments import ExperimentsReport
from fairtrial.app.requests.exp_list import Request
from fairtrial.model.baseline import AgainstBaseline
from fairtrial.model.experiment import ExperimentState
from fairtrial.query.vocabularies.experiments import EXPERIMENT_VOCABULARY


def exp_list(bench: Bench, request: Request) -> ExperimentsReport:
    """Return the newest experiments.

    Raises:
        UsageError: the filter is not understood.
        NotFoundError: `before` names no experiment.
    """
    store = bench.store.experiments
    before = None if request.before is None else store.find(request.before).experiment.id
    where = filter_of(bench, request.where, EXPERIMENT_VOCABULARY)
    states = store.newest(request.limit + 1, before, where=where, order=request.sort)
    listed = states[: request.limit]
    gates = GateChips(bench)
    gapless = where is None and request.sort == "newest"
    against = _against(bench, listed, states if gapless else ())
    return ExperimentsReport(
        listed,
        against,
        more=len(states) > request.limit,
        where=request.where,
        graders=store.grader_totals_of([state.experiment.id for state in listed]),
        gates=[gates.of(*both) for both in zip(listed, map(baseline_now, against), strict=True)],
        sort=request.sort,
    )


def _against(
    bench: Bench, listed: Sequence[ExperimentState], gapless: Sequence[ExperimentState]
) -> list[AgainstBaseline]:
    """Return what each fixed and broke; the counter wants the newest first."""
    counter = FlipCounter(bench, gapless, in_a_list=True)
    newest_first = sorted(listed, key=lambda state: state.experiment.id, reverse=True)
    found = {state.experiment.id: counter.of(state) for state in newest_first}
    return [found[state.experiment.id] for state in listed]
