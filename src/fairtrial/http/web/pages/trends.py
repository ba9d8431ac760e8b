"""`/trend`: a series of experiments over time, and `/datasets`: what they ran on."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from fairtrial.app.bench import Bench
from fairtrial.app.dataset_list import dataset_list
from fairtrial.app.dataset_show import dataset_show
from fairtrial.app.plots.plateau import plateau_picture
from fairtrial.app.requests.dataset_list import Request as ListRequest
from fairtrial.app.requests.dataset_show import Request as ShowRequest
from fairtrial.app.trend import Trend, trend, trends
from fairtrial.http.web.experiment_words import Chip, status_chip
from fairtrial.http.web.templating import page
from fairtrial.interchange.pictures.over_time import rates_over_time
from fairtrial.interchange.pictures.svg import Drawing
from fairtrial.model.decision import Outcome

_CASES: Final = 50
_OUTCOMES: Final = {
    Outcome.STOP: Chip("Stop", "warn"),
    Outcome.CONTINUE: Chip("Go on", "good"),
    Outcome.TOO_FEW: Chip("Too few", "quiet"),
}


def trend_routes(bench: Bench) -> APIRouter:
    """Return the routes."""
    router = APIRouter(include_in_schema=False)

    @router.get("/trend")
    def show(request: Request) -> HTMLResponse:
        asked = request.query_params
        series, dataset = asked.get("series") or None, asked.get("dataset") or None
        all_series, datasets = trends(bench)
        if series is None and dataset is None:
            return page(request, "trends.html", series=all_series, datasets=datasets)
        found = trend(bench, series=series, dataset=dataset)
        return page(
            request,
            "trend.html",
            found=found,
            of=series if series is not None else dataset,
            kind="Series" if series is not None else "Dataset",
            rates=_svg(rates_over_time(_title(found), found.points, found.noise)),
            evidence=_svg(plateau_picture(found.report)) if found.report.evidence else None,
            outcome=_OUTCOMES.get(found.report.loop.decision.outcome, Chip("No verdict", "warn")),
            statuses=[status_chip(one.state) for one in found.versions],
        )

    @router.get("/datasets")
    def datasets(request: Request) -> HTMLResponse:
        report = dataset_list(bench, ListRequest())
        return page(request, "datasets.html", versions=report.versions, now=bench.clock.now())

    @router.get("/datasets/{ref:path}")
    def dataset(ref: str, request: Request) -> HTMLResponse:
        report = dataset_show(bench, ShowRequest(ref, limit=_CASES))
        versions = dataset_list(bench, ListRequest(report.version.dataset)).versions
        return page(
            request,
            "dataset.html",
            report=report,
            version=report.version,
            versions=versions,
            now=bench.clock.now(),
        )

    return router


def _title(found: Trend) -> str:
    return f"{found.report.of}: pass rates over time"


def _svg(drawing: Drawing) -> Markup:
    return Markup(drawing.inline())  # noqa: S704  # ours: texts in it are escaped
