"""All pages, and the files they are made with."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import APIRouter, Depends, FastAPI
from fastapi.responses import RedirectResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from fairtrial.app.bench import Bench
from fairtrial.http.store_check import checking
from fairtrial.http.web.pages.compare import compare_routes
from fairtrial.http.web.pages.completions import completion_routes
from fairtrial.http.web.pages.experiment import experiment_routes
from fairtrial.http.web.pages.experiments import experiments_routes
from fairtrial.http.web.pages.exports import export_routes
from fairtrial.http.web.pages.gate import gate_routes
from fairtrial.http.web.pages.reviews import review_routes
from fairtrial.http.web.pages.row_actions import row_action_routes
from fairtrial.http.web.pages.sessions import session_routes
from fairtrial.http.web.pages.side_by_side import side_by_side_routes
from fairtrial.http.web.pages.sign_in import sign_in_routes
from fairtrial.http.web.pages.trends import trend_routes
from fairtrial.http.web.templating import STATIC
from fairtrial.model.api_key import KeyScope


class _Files(StaticFiles):
    """Files of ours; an address with a query names one content for ever."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        for_ever = bool(scope.get("query_string"))
        response.headers["cache-control"] = (
            "public, max-age=31536000, immutable" if for_ever else "no-cache"
        )
        return response


def install_pages(app: FastAPI, bench: Bench, scope_of: Callable[[str], KeyScope | None]) -> None:
    """Add the pages to an application.

    Args:
        app: The application.
        bench: Whose store they show.
        scope_of: What the key with this text may do; None when there is no such key.
    """
    router = APIRouter(include_in_schema=False, dependencies=[Depends(checking(bench))])

    @router.get("/")
    async def start() -> RedirectResponse:
        return RedirectResponse("/experiments", 307)

    router.include_router(experiments_routes(bench))
    router.include_router(experiment_routes(bench))
    router.include_router(compare_routes(bench))
    router.include_router(side_by_side_routes(bench))
    router.include_router(session_routes(bench))
    router.include_router(trend_routes(bench))
    router.include_router(row_action_routes(bench))
    router.include_router(review_routes(bench))
    router.include_router(export_routes(bench))
    router.include_router(gate_routes(bench))
    router.include_router(completion_routes(bench))
    app.include_router(router)
    app.include_router(sign_in_routes(scope_of))
    app.mount("/static", _Files(directory=STATIC), name="static")
