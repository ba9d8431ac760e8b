"""`/review`: rows that wait for a person's look."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from fairtrial.app.bench import Bench
from fairtrial.app.experiment_page import key_text
from fairtrial.app.row_actions import settle_review
from fairtrial.http.web.forms import form_of
from fairtrial.http.web.templating import page
from fairtrial.model.errors import UsageError
from fairtrial.model.review import Opinion

_PAGE: Final = 50
_LONGEST_NOTE: Final = 4_000


def review_routes(bench: Bench) -> APIRouter:
    """Return the routes."""
    router = APIRouter(include_in_schema=False)

    @router.get("/review")
    def review(request: Request) -> HTMLResponse:
        asked = request.query_params
        settled = asked.get("show") == "settled"
        reviews = bench.store.reviews
        items = reviews.items(_PAGE + 1, asked.get("before") or None, settled=settled)
        return page(
            request,
            "reviews.html",
            items=[(item, key_text(item.row)) for item in items[:_PAGE]],
            more=len(items) > _PAGE,
            settled=settled,
            n_waiting=reviews.n_waiting(),
            now=bench.clock.now(),
        )

    @router.post("/review/{ref}")
    def settle(ref: str, form: Annotated[dict[str, str], Depends(form_of)]) -> RedirectResponse:
        said = form.get("opinion", "")
        if said not in tuple(Opinion):
            raise UsageError(f"{said!r} is no opinion", fix="passed, failed or unclear")
        note = form.get("note", "")
        if len(note) > _LONGEST_NOTE:
            raise UsageError(f"the note is longer than {_LONGEST_NOTE:,} characters")
        settle_review(bench, ref, Opinion(said), note)
        return RedirectResponse("/review", 303)

    return router
