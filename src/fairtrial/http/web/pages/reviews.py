"""`/review`: rows that wait for a person's look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from fairtrial.app.bench import Bench
from fairtrial.app.row_actions import reviewed_rows, settle_review
from fairtrial.app.row_keys import key_text
from fairtrial.http.web.forms import form_of
from fairtrial.http.web.templating import page
from fairtrial.model.errors import UsageError
from fairtrial.model.review import Opinion, ReviewItem

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
        shown = reviewed_rows(bench, items[:_PAGE])
        return page(
            request,
            "reviews.html",
            shown=[(one, key_text(one.item.row)) for one in shown],
            labelled=_labelled(items[:_PAGE]) if settled else [],
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
        again = form.get("show") == "settled"
        return RedirectResponse("/review?show=settled" if again else "/review", 303)

    return router


def _labelled(items: Sequence[ReviewItem]) -> list[tuple[str, str, str]]:
    """Return the id, the name and the arm of what these items are of, each once."""
    return list(dict.fromkeys((one.experiment, one.name, one.arm) for one in items))
