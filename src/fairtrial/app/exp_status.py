"""`exp status`: how runs stand, from any shell."""

from __future__ import annotations

from fairtrial.app.bench import Bench
from fairtrial.app.reports.status import StatusReport
from fairtrial.app.requests.exp_status import Request


def exp_status(bench: Bench, request: Request) -> StatusReport:
    """Return how one run stands, or every run that is not finished.

    Raises:
        NotFoundError: there is no such experiment.
    """
    store = bench.store.experiments
    if request.run is not None:
        return StatusReport((store.find(request.run),))
    return StatusReport(tuple(store.unfinished()[: request.limit]))
