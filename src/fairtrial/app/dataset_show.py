"""`dataset show`: a version and its first cases."""

from __future__ import annotations

from fairtrial.app.bench import Bench
from fairtrial.app.reports.dataset import CasesReport
from fairtrial.app.requests.dataset_show import Request
from fairtrial.model.errors import NotFoundError


def dataset_show(bench: Bench, request: Request) -> CasesReport:
    """Return a version and its first cases, or one case of it.

    Raises:
        NotFoundError: there is no such version or case.
    """
    datasets = bench.store.datasets
    version = datasets.version(request.dataset)
    if request.case is None:
        positions = range(min(request.limit, version.n_cases))
        return CasesReport(version, tuple(datasets.cases(version, positions)), whole=False)
    found = [case.position for case in datasets.outline(version) if case.id == request.case]
    if not found:
        raise NotFoundError(
            f"no case {request.case!r} in {version.ref}",
            fix=f"its cases: fairtrial dataset export {version.ref}",
        )
    return CasesReport(version, tuple(datasets.cases(version, found)), whole=True)
