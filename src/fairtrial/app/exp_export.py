"""`exp export`: an experiment for another tool or another person."""

from __future__ import annotations

import importlib

from fairtrial.app.bench import Bench
from fairtrial.app.reports.document import DocumentReport, document
from fairtrial.app.requests.exp_export import Request
from fairtrial.app.stored_cases import stored_cases
from fairtrial.interchange.experiment_exports.export import ExperimentExport
from fairtrial.stats.proportion import pass_rate


def exp_export(bench: Bench, request: Request) -> DocumentReport:
    """Return an experiment as a document.

    Raises:
        NotFoundError: there is no such experiment.
        UsageError: the file cannot be written.
    """
    store = bench.store.experiments
    state = store.find(request.experiment)
    experiment_id = state.experiment.id
    export = ExperimentExport(
        state=state,
        graders=store.grader_totals(experiment_id),
        rate=pass_rate(store.outcome_counts(experiment_id)),
        trials=lambda: store.trials(experiment_id),
        cases=lambda keys: stored_cases(bench, state.experiment, keys.__contains__),
    )
    # Each format is a module of its own, and only this one is needed.
    writer = importlib.import_module(f"fairtrial.interchange.experiment_exports.{request.to}")
    path = bench.output(request.output)
    return document(request.to, lambda stream: writer.write(export, stream), path)
