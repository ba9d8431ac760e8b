"""`exp export`: an experiment, or two beside each other, for another tool or another person."""

from __future__ import annotations

import importlib

from fairtrial.app.bench import Bench
from fairtrial.app.file_options import Document
from fairtrial.app.filters import row_filter
from fairtrial.app.pass_rates import pass_rate_of
from fairtrial.app.reports.document import DocumentReport, document
from fairtrial.app.requests.exp_export import Request
from fairtrial.app.stored_cases import stored_cases
from fairtrial.interchange.experiment_exports.export import ExperimentExport
from fairtrial.model.errors import UsageError
from fairtrial.ports import TrialFilter

_OF_TRIALS = ("jsonl", "csv")
"""Formats that hold trials and nothing else."""


def exp_export(bench: Bench, request: Request) -> DocumentReport:
    """Return an experiment, or the comparison of two, as a document.

    Raises:
        NotFoundError: there is no such experiment.
        UsageError: the file cannot be written, two experiments cannot be told apart, or the
            filter is not understood.
        StoreError: the store cannot be read.
    """
    if request.where is not None and (
        request.candidate is not None or request.to not in _OF_TRIALS
    ):
        raise UsageError(
            "--where chooses trials of one experiment as jsonl or csv",
            why="other documents sum all of it up",
            fix="give --to jsonl, or leave --where out",
        )
    if request.candidate is not None:
        return _comparison(bench, request, request.candidate)
    if request.marker is not None:
        raise UsageError(
            "--marker has no effect without a second experiment",
            why="the first line of an experiment's comment is always the same",
            fix="leave it out, or name the candidate too",
        )
    store = bench.store.experiments
    state = store.find(request.experiment)
    experiment_id = state.experiment.id
    chosen = TrialFilter()
    if request.where is not None:
        chosen = TrialFilter(rows=row_filter(bench, state, request.where))
    export = ExperimentExport(
        state=state,
        graders=store.grader_totals(experiment_id),
        rate=pass_rate_of(store, state.experiment),
        trials=lambda: store.trials(experiment_id, chosen),
        cases=lambda keys: stored_cases(bench, state.experiment, keys.__contains__),
    )
    # Each format is a module of its own, and only this one is needed.
    writer = importlib.import_module(f"fairtrial.interchange.experiment_exports.{request.to}")
    path = bench.output(request.output)
    return document(request.to, lambda stream: writer.write(export, stream), path)


def _comparison(bench: Bench, request: Request, candidate: str) -> DocumentReport:
    # Most exports are of one experiment, and do without numpy and what compares.
    from fairtrial.app.exp_compare import exp_compare  # noqa: PLC0415
    from fairtrial.app.reports.accompanied import AccompaniedReport  # noqa: PLC0415
    from fairtrial.app.requests.exp_compare import Request as CompareRequest  # noqa: PLC0415

    wanted = Document(request.to, request.output, request.marker)
    report = exp_compare(bench, CompareRequest(request.experiment, candidate, document=wanted))
    if not isinstance(report, AccompaniedReport):
        raise TypeError(report)
    return report.documents[0]
