"""`eval report`: a stored run of eval tasks, as text, markdown or html."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from fairtrial.app.bench import Bench
from fairtrial.app.eval_readings import DATASETS
from fairtrial.app.eval_run import eval_report_of
from fairtrial.app.exp_show import exp_show
from fairtrial.app.reports.document import DocumentReport, document
from fairtrial.app.reports.eval_run import EvalReport
from fairtrial.app.reports.experiment import ExperimentReport
from fairtrial.app.requests.eval_report import Request
from fairtrial.app.requests.exp_show import Request as ShowRequest
from fairtrial.app.run_report import compared_arms
from fairtrial.interchange.eval_exports.export import EvalExport
from fairtrial.model.errors import NotFoundError, UsageError
from fairtrial.model.experiment import ExperimentState

_SUFFIXES: Final = {".md": "markdown", ".markdown": "markdown", ".html": "html", ".htm": "html"}
_PAGE: Final = 50


def eval_report(bench: Bench, request: Request) -> EvalReport | DocumentReport:
    """Return a run of eval tasks as a report, or as a document.

    Raises:
        NotFoundError: there is no such experiment or suite, or no run of it.
        UsageError: it is no run of eval tasks, or the file cannot be written.
        StoreError: the store cannot be read.
    """
    to = _format(request)
    state = _chosen(bench, request.run)
    shown = exp_show(bench, ShowRequest(experiment=state.experiment.id))
    if not isinstance(shown, ExperimentReport):
        raise TypeError(shown)
    report = eval_report_of(bench, replace(shown, comparison=compared_arms(bench, state)))
    if to == "text":
        return report
    comparison = report.run.comparison
    export = EvalExport(
        state=state,
        reading=report.reading,
        sentence=None if comparison is None else comparison.comparison.sentence,
        trials=lambda: bench.store.experiments.trials(state.experiment.id),
    )
    # Each format is a module of its own, and only this one is needed.
    writer = importlib.import_module(f"fairtrial.interchange.eval_exports.{to}")
    path = bench.output(request.output)
    return document(to, lambda stream: writer.write(export, stream), path)


def _format(request: Request) -> str:
    """Return the format that is asked for, in words or by the ending of a file."""
    if request.output is None or str(request.output) == "-":
        return request.to or "text"
    to = request.to or _SUFFIXES.get(request.output.suffix.lower(), "text")
    if to == "text":
        raise UsageError(
            f"{request.output} would hold the text of a terminal",
            where="--output",
            fix="give --to markdown or --to html; text goes to standard output",
        )
    return to


def _chosen(bench: Bench, ref: str | None) -> ExperimentState:
    if ref is None:
        return _newest(bench, None)
    if next(_runs(bench, f"{DATASETS}{ref}"), None) is not None:
        return _newest(bench, f"{DATASETS}{ref}")
    state = bench.store.experiments.find(ref)
    if not state.experiment.is_eval:
        raise UsageError(
            f"{state.experiment.id} is no run of eval tasks",
            fix=f"read it with: fairtrial exp show {state.experiment.id}",
        )
    return state


def _newest(bench: Bench, dataset: str | None) -> ExperimentState:
    found = next(_runs(bench, dataset), None)
    if found is None:
        raise NotFoundError(
            "no run of eval tasks is on record", fix="run some: fairtrial eval run SUITE"
        )
    return found


def _runs(bench: Bench, dataset: str | None) -> Iterator[ExperimentState]:
    """Yield runs of eval tasks, the newest first."""
    store, before = bench.store.experiments, None
    while page := store.newest(_PAGE, before, dataset):
        yield from (state for state in page if state.experiment.is_eval)
        before = page[-1].experiment.id
