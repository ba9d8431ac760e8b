"""`exp show`: a stored experiment, or one case of it in full."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtrial.app.bench import Bench
from fairtrial.app.release_gate import with_gate
from fairtrial.app.reports.case import CaseReport
from fairtrial.app.reports.experiment import ExperimentReport, experiment_report
from fairtrial.app.requests.exp_show import Request
from fairtrial.app.stored_cases import stored_cases
from fairtrial.model.errors import NotFoundError
from fairtrial.ports import TrialFilter

if TYPE_CHECKING:
    from fairtrial.app.reports.metrics import MetricsReport


def exp_show(bench: Bench, request: Request) -> ExperimentReport | CaseReport | MetricsReport:
    """Return an experiment's summary, or with `case` every trial of that case.

    Raises:
        NotFoundError: there is no such experiment or case.
    """
    store = bench.store.experiments
    state = store.find(request.experiment)
    if request.case is None:
        if state.experiment.measured:
            from fairtrial.app.reports.metrics import metrics_report  # noqa: PLC0415  # loads numpy

            return metrics_report(store, state)
        return with_gate(bench, experiment_report(store, state))
    trials = tuple(store.trials(state.experiment.id, TrialFilter(case_id=request.case)))
    if not trials:
        raise NotFoundError(
            f"no trial of a case {request.case!r} in {state.experiment.name}",
            fix=f"its failed cases: fairtrial exp show {state.experiment.id}; "
            f"all ids: fairtrial dataset show {state.experiment.dataset}",
        )
    cases = stored_cases(bench, state.experiment, lambda key: key.case_id == request.case)
    return CaseReport(state, trials, tuple(cases))
