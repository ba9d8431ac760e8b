"""`dataset diff`: what changed between two versions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairtrial.app.bench import Bench
from fairtrial.app.reports.dataset import DiffReport
from fairtrial.app.requests.dataset_diff import Request
from fairtrial.interchange.dataset_diff import diff_versions, fields_changed
from fairtrial.model.case import Case, CaseKey
from fairtrial.model.dataset import DatasetVersion


def dataset_diff(bench: Bench, request: Request) -> DiffReport:
    """Return the cases that were added, removed and changed.

    Raises:
        NotFoundError: there is no such version.
    """
    datasets = bench.store.datasets
    a = datasets.version(request.a)
    b = datasets.version(a.dataset + request.b if request.b.startswith("@") else request.b)
    diff = diff_versions(datasets.outline(a), datasets.outline(b))
    return DiffReport(a, b, diff, _fields(bench, a, b, diff.changed))


def _fields(
    bench: Bench, a: DatasetVersion, b: DatasetVersion, changed: Sequence[CaseKey]
) -> dict[CaseKey, Sequence[str]]:
    wanted = set(changed)
    pairs = zip(_cases(bench, a, wanted), _cases(bench, b, wanted), strict=True)
    return {before.key: fields_changed(before, after) for before, after in pairs}


def _cases(bench: Bench, version: DatasetVersion, wanted: set[CaseKey]) -> Iterator[Case]:
    """Yield the wanted cases by key, so that two versions can be walked side by side."""
    found = sorted(
        (CaseKey(case.id, case.condition), case.position)
        for case in bench.store.datasets.outline(version)
        if CaseKey(case.id, case.condition) in wanted
    )
    return bench.store.datasets.cases(version, [position for _, position in found])
