"""`dataset export`: a version as a file."""

from __future__ import annotations

from fairtrial.app.bench import Bench
from fairtrial.app.reports.document import DocumentReport, document
from fairtrial.app.requests.dataset_export import Request
from fairtrial.interchange.dataset_files.columns import Format, format_of
from fairtrial.interchange.dataset_files.writing import write_cases


def dataset_export(bench: Bench, request: Request) -> DocumentReport:
    """Return a version as a document that `dataset add` reads back to the same version.

    Raises:
        NotFoundError: there is no such version.
        UsageError: the format is unknown or the file cannot be written.
    """
    datasets = bench.store.datasets
    version = datasets.version(request.dataset)
    path = bench.output(request.output)
    if request.to is not None:
        chosen = Format(request.to)
    else:
        chosen = Format.JSONL if path is None else format_of(path)
    return document(
        chosen, lambda stream: write_cases(datasets.cases(version), stream, chosen), path
    )
