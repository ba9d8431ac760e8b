"""`exp show`: a stored experiment, or one case of it in full."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fairtrial.app.against_baseline import with_baseline
from fairtrial.app.bench import Bench
from fairtrial.app.grader_noises import with_grader_noise
from fairtrial.app.matrix_reading import kept_matrix
from fairtrial.app.noise_floors import floor_of
from fairtrial.app.picturing import checked_plot, pictured, pictured_metrics
from fairtrial.app.release_gate import with_gate
from fairtrial.app.replay_readings import replay_reading
from fairtrial.app.reports.accompanied import AccompaniedReport
from fairtrial.app.reports.case import CaseReport
from fairtrial.app.reports.experiment import ExperimentReport, experiment_report
from fairtrial.app.requests.exp_show import Request
from fairtrial.app.stored_cases import cases_of_id
from fairtrial.model.design import DesignReading
from fairtrial.model.errors import NotFoundError, UsageError
from fairtrial.model.experiment import ExperimentState
from fairtrial.ports import TrialFilter

if TYPE_CHECKING:
    from fairtrial.app.reports.metrics import MetricsReport
    from fairtrial.app.reports.rows import RowsReport


def exp_show(
    bench: Bench, request: Request
) -> ExperimentReport | CaseReport | RowsReport | MetricsReport | AccompaniedReport:
    """Return an experiment's summary; with `case` every trial of that case, or rows with `where`.

    Raises:
        NotFoundError: there is no such experiment or case.
        UsageError: the picture cannot be written, or the filter is not understood.
    """
    store = bench.store.experiments
    state = store.find(request.experiment)
    if request.rows.where is not None:
        if request.case is not None or request.picture.plot is not None:
            raise UsageError("--where lists rows, without --case and --plot", fix="leave it out")
        from fairtrial.app.showing_rows import shown_rows  # noqa: PLC0415  # rarely asked

        return shown_rows(bench, state, request.rows.where, request.rows)
    if request.rows.after is not None:
        raise UsageError("--after has no effect without --where", fix="give the filter too")
    if request.case is None:
        return _summary(bench, state, request)
    if request.picture.plot is not None:
        raise UsageError("a single case has no picture", where="--plot", fix="leave out --case")
    trials = tuple(store.trials(state.experiment.id, TrialFilter(case_id=request.case)))
    if not trials:
        raise NotFoundError(
            f"no trial of a case {request.case!r} in {state.experiment.name}",
            fix=f"its failed cases: fairtrial exp show {state.experiment.id}; "
            f"all ids: fairtrial dataset show {state.experiment.dataset}",
        )
    cases = cases_of_id(bench, state.experiment, request.case)
    removed = bench.store.pruner.without_outputs(state.experiment.id)
    return CaseReport(state, trials, tuple(cases), removed)


def _design(bench: Bench, state: ExperimentState) -> DesignReading | None:
    if not state.experiment.spec.get("design"):
        return None
    # Most experiments have no design, and are shown without the modules that run one.
    from fairtrial.app.design_readings import kept_reading  # noqa: PLC0415

    return kept_reading(bench, state)


def _summary(
    bench: Bench, state: ExperimentState, request: Request
) -> ExperimentReport | MetricsReport | AccompaniedReport:
    store = bench.store.experiments
    path = checked_plot(bench, request.picture.plot)
    if state.experiment.measured:
        from fairtrial.app.reports.metrics import metrics_report  # noqa: PLC0415  # loads numpy

        report = metrics_report(store, state)
        return report if path is None else pictured_metrics(report, path)
    summary = with_gate(bench, experiment_report(store, state))
    summary = with_grader_noise(bench, with_baseline(bench, summary))
    summary = replace(
        summary,
        design=_design(bench, state),
        matrix=kept_matrix(bench, state),
        replay=replay_reading(bench, state),
    )
    if path is None:
        return summary
    from fairtrial.app.plots.experiment import experiment_picture  # noqa: PLC0415  # rarely asked

    return pictured(
        summary, experiment_picture(store, summary, floor_of(bench, state.experiment)), path
    )
