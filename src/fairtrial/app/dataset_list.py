"""`dataset list`: datasets, or the versions of one."""

from __future__ import annotations

from fairtrial.app.bench import Bench
from fairtrial.app.reports.dataset import VersionsReport
from fairtrial.app.requests.dataset_list import Request


def dataset_list(bench: Bench, request: Request) -> VersionsReport:
    """Return every dataset's newest version by name, or all versions of one, newest first.

    Raises:
        NotFoundError: there is no such dataset.
    """
    datasets = bench.store.datasets
    if request.name is not None:
        datasets.version(request.name)
    return VersionsReport(datasets.versions(request.name))
