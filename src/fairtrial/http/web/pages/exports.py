"""`/experiments/{id}/export/{format}`: an experiment as a file, for another tool or a person."""

from __future__ import annotations

import io
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from fairtrial.app.bench import Bench
from fairtrial.app.exp_export import exp_export
from fairtrial.app.exp_labels import exp_labels
from fairtrial.app.reports.document import DocumentReport
from fairtrial.app.requests.exp_export import Request as ExportRequest
from fairtrial.app.requests.exp_labels import Request as LabelsRequest
from fairtrial.model.errors import NotFoundError

_PIECE: Final = 256 * 1024
_IN_MEMORY: Final = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Form:
    """A form of document.

    Attributes:
        word: What a link to it says.
        suffix: How its file ends.
        media_type: What it is sent as.
    """

    word: str
    suffix: str
    media_type: str


FORMS: Final = {
    "html": Form("Full report (HTML)", "html", "text/html"),
    "markdown": Form("Markdown, for a pull request", "md", "text/markdown"),
    "junit": Form("JUnit, for CI", "xml", "application/xml"),
    "jsonl": Form("Trials as JSONL", "jsonl", "application/jsonl"),
    "csv": Form("Trials as CSV", "csv", "text/csv"),
}
"""What `exp export --to` writes."""
_LABELS: Final = Form("Labels", "labels.jsonl", "application/jsonl")


def export_routes(bench: Bench) -> APIRouter:
    """Return the route. What it sends is always a file to keep, never a page of this site."""
    router = APIRouter(include_in_schema=False)

    @router.get("/experiments/{ref}/export/{form}")
    def export(ref: str, form: str, request: Request) -> StreamingResponse:
        experiment = bench.store.experiments.find(ref).experiment
        if form == "labels":
            arm = request.query_params.get("arm")
            wanted = experiment.id if arm is None else f"{experiment.id}:{arm}"
            return _sent(exp_labels(bench, LabelsRequest(wanted)), _LABELS, experiment.name)
        if form not in FORMS:
            raise NotFoundError(f"there is no export as {form}", fix=f"one of {', '.join(FORMS)}")
        to: Any = form  # one of those that the request names
        report = exp_export(bench, ExportRequest(experiment.id, to))
        return _sent(report, FORMS[form], experiment.name)

    return router


def _sent(report: DocumentReport, form: Form, name: str) -> StreamingResponse:
    file = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115  # closed by what reads it
    text = io.TextIOWrapper(file, "utf-8", "replace", newline="", write_through=True)
    report.write(text)
    text.flush()
    text.detach()
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:60] or "experiment"
    return StreamingResponse(
        _pieces(file),
        media_type=form.media_type,
        headers={"content-disposition": f'attachment; filename="{plain}.{form.suffix}"'},
    )


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        file.seek(0)
        while piece := file.read(_PIECE):
            yield piece
