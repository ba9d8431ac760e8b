"""`exp status`: how runs stand, from any shell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairtrial.app.bench import Bench
from fairtrial.app.further_tries import FurtherTries, further_tries
from fairtrial.app.reports.status import StatusReport, SweepStatus
from fairtrial.app.requests.exp_status import Request
from fairtrial.model.errors import NotFoundError
from fairtrial.model.experiment import ExperimentState, Status
from fairtrial.model.sweep import Sweep


def exp_status(bench: Bench, request: Request) -> StatusReport:
    """Return how one run stands, or every run that is not finished.

    Raises:
        NotFoundError: there is no such experiment.
    """
    store = bench.store.experiments
    if request.run is not None:
        state = store.find(request.run)
        return StatusReport((state,), tuple(_of(bench, state)), _further(bench, (state,)))
    unfinished = tuple(store.unfinished()[: request.limit])
    sweeps = tuple(where(bench, sweep) for sweep in bench.store.sweeps.unfinished())
    return StatusReport(unfinished, sweeps[: request.limit], _further(bench, unfinished))


def _further(bench: Bench, states: Sequence[ExperimentState]) -> dict[str, FurtherTries]:
    found = {state.experiment.id: further_tries(bench.store.experiments, state) for state in states}
    return {name: further for name, further in found.items() if further is not None}


def _of(bench: Bench, state: ExperimentState) -> Iterator[SweepStatus]:
    """Yield the sweep that an experiment is a phase of, unless it is over."""
    told = state.experiment.spec.get("sweep")
    sweep = None if told is None else bench.store.sweeps.get(told["race"])
    if sweep is not None and sweep.finished_at is None:
        yield where(bench, sweep)


def where(bench: Bench, sweep: Sweep) -> SweepStatus:
    """Return which phase an unfinished sweep is in: the first whose experiment is not finished."""
    phases = sweep.plan["phases"]
    for number, phase in enumerate(phases, start=1):
        try:
            state = bench.store.experiments.find(phase["id"])
        except NotFoundError:
            state = None
        if state is None or state.status is not Status.FINISHED:
            return SweepStatus(sweep, phase["role"], number, len(phases), state)
    return SweepStatus(sweep, phases[-1]["role"], len(phases), len(phases), None)
