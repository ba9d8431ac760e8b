"""`/completions/{of}`: how a filter that is being typed may go on."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from fairtrial.app.bench import Bench
from fairtrial.app.filter_completion import complete_filter
from fairtrial.model.errors import NotFoundError
from fairtrial.query.vocabularies import VOCABULARIES

_MOST = 12


def completion_routes(bench: Bench) -> APIRouter:
    """Return the route."""
    router = APIRouter(include_in_schema=False)

    @router.get("/completions/{of}")
    def completions(
        of: str, text: str = "", cursor: int | None = None, scope: str | None = None
    ) -> JSONResponse:
        if of not in VOCABULARIES:
            raise NotFoundError(f"there is no filter of {of}")
        found = complete_filter(bench.home, of, text, cursor, scope)
        suggestions: list[dict[str, Any]] = [
            {"text": one.text, "start": one.start, "doc": one.doc} for one in found[:_MOST]
        ]
        return JSONResponse({"suggestions": suggestions})

    return router
