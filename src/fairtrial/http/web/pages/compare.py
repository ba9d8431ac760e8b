"""`/compare`: two experiments, row by row."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from fairtrial.app.bench import Bench
from fairtrial.app.compare_page import (
    GROUPS,
    ComparePage,
    ComparePageRequest,
    compare_page,
    compared_rows,
)
from fairtrial.http.web.compare_words import (
    HEADINGS,
    decision_chip,
    row_lines,
    scorer_lines,
    verdict_kind,
)
from fairtrial.http.web.row_sides import RowPanel, Side, row_panel
from fairtrial.http.web.templating import page
from fairtrial.interchange.pictures.of_comparison import comparison_forest
from fairtrial.model.comparison import Compared
from fairtrial.model.errors import UsageError


def compare_routes(bench: Bench) -> APIRouter:
    """Return the routes."""
    router = APIRouter(include_in_schema=False)

    @router.get("/compare")
    def compare(request: Request) -> HTMLResponse:
        wanted = _wanted(request)
        row = request.query_params.get("row")
        if not row and request.headers.get("hx-target") == "panel":
            return page(request, "compare_panel.html", panel=None)
        if row and request.headers.get("hx-target") == "panel":
            sides = compared_rows(bench, wanted)
            return page(request, "compare_panel.html", panel=_panel(bench, sides, row))
        report = compare_page(bench, wanted)
        found = report.report.comparison
        return page(
            request,
            "compare.html",
            **_context(report, wanted),
            panel=_panel(bench, (found.a, found.b), row) if row else None,
            row=row,
        )

    return router


def _wanted(request: Request) -> ComparePageRequest:
    asked = request.query_params
    b = asked.get("b")
    if not b:
        raise UsageError(
            "which experiment is to be compared?",
            where="b",
            fix="open an experiment, and take its `Compare with`",
        )
    show = asked.get("show")
    return ComparePageRequest(
        a=asked.get("a") or None,
        b=b,
        show=show if show in GROUPS else None,
        after=asked.get("after") or None,
        gate=asked.get("gate") == "1",
    )


def _context(report: ComparePage, wanted: ComparePageRequest) -> dict[str, Any]:
    found = report.report.comparison
    picture = None
    if found.comparable:
        picture = Markup(comparison_forest(found, report.report.luck).inline())  # noqa: S704  # ours
    return {
        "report": report,
        "found": found,
        "wanted": wanted,
        "decision": report.report.decision,
        "decision_chip": decision_chip(report.report.decision),
        "kind": verdict_kind(report),
        "scorers": scorer_lines(report),
        "lines": row_lines(report),
        "headings": [(name, word, report.counts[name]) for name, word in HEADINGS.items()],
        "picture": picture,
    }


def _panel(bench: Bench, sides: tuple[Compared, Compared], text: str) -> RowPanel:
    titles = ("Baseline", "This one")
    named = [
        Side(side.id, side.arm, side.label, title)
        for side, title in zip(sides, titles, strict=True)
    ]
    return row_panel(bench, named, text)
