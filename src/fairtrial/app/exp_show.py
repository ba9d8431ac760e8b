"""`exp show`: a stored experiment, or one case of it in full."""

from __future__ import annotations

from fairtrial.app.bench import Bench
from fairtrial.app.reports.case import CaseReport
from fairtrial.app.reports.experiment import ExperimentReport, experiment_report
from fairtrial.app.requests.exp_show import Request
from fairtrial.model.errors import NotFoundError
from fairtrial.ports import TrialFilter


def exp_show(bench: Bench, request: Request) -> ExperimentReport | CaseReport:
    """Return an experiment's summary, or with `case` every trial of that case.

    Raises:
        NotFoundError: there is no such experiment or case.
    """
    store = bench.store.experiments
    state = store.find(request.experiment)
    if request.case is None:
        return experiment_report(store, state)
    trials = tuple(store.trials(state.experiment.id, TrialFilter(case_id=request.case)))
    if not trials:
        raise NotFoundError(
            f"no trial of a case {request.case!r} in {state.experiment.name}",
            fix=f"its failed cases: fairtrial exp show {state.experiment.id}",
        )
    return CaseReport(state, trials)
