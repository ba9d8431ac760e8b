"""`exp list`: experiments, newest first."""

from __future__ import annotations

from fairtrial.app.against_baseline import FlipCounter
from fairtrial.app.bench import Bench
from fairtrial.app.filters import filter_of
from fairtrial.app.reports.experiments import ExperimentsReport
from fairtrial.app.requests.exp_list import Request
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
    states = store.newest(request.limit + 1, before, where=where)
    listed = states[: request.limit]
    counter = FlipCounter(bench, in_a_list=True)
    against = [counter.of(state) for state in listed]
    return ExperimentsReport(
        listed,
        against,
        more=len(states) > request.limit,
        where=request.where,
    )
