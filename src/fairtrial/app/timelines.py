"""A run among others: in the open session, and in the series that it is a round of."""

from __future__ import annotations

from dataclasses import replace

from fairtrial.app.bench import Bench
from fairtrial.app.logbooks import joined
from fairtrial.app.reports.experiment import ExperimentReport
from fairtrial.model.experiment import Status


def with_timelines(bench: Bench, report: ExperimentReport, *, session: bool) -> ExperimentReport:
    """Return the report of a run with its place in the session and in its series.

    Args:
        bench: The workbench.
        report: The report.
        session: Whether the run joins the open session.

    Raises:
        StoreError: the store cannot be read or written.
    """
    state = report.state
    if session:
        report = replace(report, in_session=joined(bench, state))
    series = state.experiment.series
    if series is None or state.status is not Status.FINISHED:
        return report
    # numpy: most runs are in no series.
    from fairtrial.app.exp_plateau import plateau_of_series  # noqa: PLC0415

    return replace(report, loop=plateau_of_series(bench, series))
