"""What the buttons of an experiment and of a row do. Each leads back to a page."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response

from fairtrial.app.bench import Bench
from fairtrial.app.exp_baseline import exp_baseline
from fairtrial.app.experiment_page import row_key
from fairtrial.app.fix_notes import fix_notes
from fairtrial.app.requests.exp_baseline import Request as BaselineRequest
from fairtrial.app.row_actions import add_to_dataset, send_to_review
from fairtrial.http.web.forms import form_of
from fairtrial.http.web.templating import with_query

_Form = Annotated[dict[str, str], Depends(form_of)]


def row_action_routes(bench: Bench) -> APIRouter:
    """Return the routes."""
    router = APIRouter(include_in_schema=False)

    @router.post("/experiments/{ref}/project-baseline")
    def project_baseline(ref: str, form: _Form) -> RedirectResponse:
        if form.get("what") == "clear":
            exp_baseline(bench, BaselineRequest("clear"))
        else:
            exp_baseline(bench, BaselineRequest("set", form.get("baseline", "")))
        return RedirectResponse(with_query(f"/experiments/{ref}", {}), 303)

    @router.post("/experiments/{ref}/rows/dataset")
    def dataset(ref: str, form: _Form) -> RedirectResponse:
        row = form.get("row", "")
        version, is_new = add_to_dataset(bench, ref, row_key(row), form.get("dataset", ""))
        done = f"Added to {version.ref}" if is_new else f"It is in {version.ref} already"
        return _back(ref, row, done)

    @router.post("/experiments/{ref}/rows/review")
    def review(ref: str, form: _Form) -> RedirectResponse:
        row = form.get("row", "")
        send_to_review(bench, ref, row_key(row))
        return _back(ref, row, "It waits in the queue of reviews")

    @router.get("/experiments/{ref}/fix-notes")
    def notes(ref: str, request: Request) -> Response:
        key = row_key(request.query_params.get("row", ""))
        text = fix_notes(bench, ref, key)
        return Response(
            text.encode("utf-8", "replace"),
            media_type="text/markdown; charset=utf-8",
            headers={"content-disposition": 'attachment; filename="fix-notes.md"'},
        )

    return router


def _back(ref: str, row: str, done: str) -> RedirectResponse:
    return RedirectResponse(with_query(f"/experiments/{ref}", {"row": row, "done": done}), 303)
