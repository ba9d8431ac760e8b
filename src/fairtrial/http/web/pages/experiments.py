"""`/experiments`: the list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from fairtrial.app.bench import Bench
from fairtrial.app.exp_list import exp_list
from fairtrial.app.filters import filter_of
from fairtrial.app.key_projects import filter_of_key
from fairtrial.app.reports.experiments import ExperimentsReport
from fairtrial.app.requests.exp_list import Request as ListRequest
from fairtrial.http.guard import given_key
from fairtrial.http.web.experiment_words import listed_views
from fairtrial.http.web.templating import page
from fairtrial.model.errors import UsageError
from fairtrial.query.vocabularies.experiments import EXPERIMENT_VOCABULARY

_ROWS: Final = 40
SORTS: Final = {
    "newest": "Newest first",
    "oldest": "Oldest first",
    "name": "By name",
    "pass_rate": "Lowest pass rate",
    "failed": "Most failed",
    "cost": "Dearest first",
}


def experiments_routes(bench: Bench) -> APIRouter:
    """Return the routes."""
    router = APIRouter(include_in_schema=False)

    @router.get("/experiments")
    def experiments(
        request: Request,
        where: str = "",
        sort: str = "newest",
        before: str | None = None,
    ) -> HTMLResponse:
        asked = _Asked(where.strip(), sort if sort in SORTS else "newest", before or None)
        only = filter_of_key(bench, given_key(request.headers))
        report, error = _read(bench, asked, only)
        return page(
            request,
            "experiments.html",
            400 if error else 200,
            asked=asked,
            sorts=SORTS,
            report=report,
            listed=listed_views(report),
            error=error,
            now=bench.clock.now(),
        )

    @router.get("/side-by-side-of")
    def chosen(request: Request) -> RedirectResponse:
        """Lead from the boxes that were ticked to the address of what they chose."""
        picked = request.query_params.getlist("experiment")
        if not 2 <= len(picked) <= 8:
            raise UsageError(
                f"side by side takes 2 to 8 experiments, not {len(picked)}",
                fix="go back and tick some more, or fewer",
            )
        return RedirectResponse(f"/side-by-side?ids={','.join(picked)}", 303)

    return router


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the address says."""

    where: str
    sort: str
    before: str | None

    @property
    def query(self) -> dict[str, str | None]:
        """Its parameters."""
        return {
            "where": self.where,
            "sort": None if self.sort == "newest" else self.sort,
            "before": self.before,
        }


def _read(
    bench: Bench, asked: _Asked, only: str | None
) -> tuple[ExperimentsReport, UsageError | None]:
    """Return the page of the list; a filter that is not understood comes with no rows.

    Args:
        bench: The workbench.
        asked: What the address says.
        only: The filter of what may be seen; None when that is all.
    """
    sort: Any = asked.sort  # one of the sorts that the request names
    where = asked.where or None
    try:
        if only is not None:
            # Read alone, so that no bracket of it can end those around it.
            filter_of(bench, where, EXPERIMENT_VOCABULARY)
            where = only if where is None else f"{only} and ({where})"
        request = ListRequest(where=where, limit=_ROWS, before=asked.before, sort=sort)
        return exp_list(bench, request), None
    except UsageError as error:
        return ExperimentsReport([], [], more=False, where=asked.where), error
