"""`/side-by-side`: two to eight experiments as columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from fairtrial.app.bench import Bench
from fairtrial.app.row_keys import key_text
from fairtrial.app.side_by_side import (
    MOST_SCORERS,
    SHOWN,
    Column,
    SideBySide,
    SideBySideRequest,
    chosen_columns,
    side_by_side,
)
from fairtrial.http.web.experiment_words import Chip, gate_chip, score_text, status_chip
from fairtrial.http.web.row_sides import RowPanel, Side, row_panel
from fairtrial.http.web.row_words import glance_chip
from fairtrial.http.web.templating import page
from fairtrial.http.web.words import DASH, number, percent
from fairtrial.model.row import RowGlance

_SHOWN_WORDS: Final = {"all": "All", "differ": "Differ", "failed": "Some failed"}


@dataclass(frozen=True, slots=True)
class ColumnView:
    """A column's head.

    Attributes:
        id: The experiment's id.
        label: What to call it.
        ref: What names it in an address.
        status: Where it stands.
        gate: Where it stands at the release gate.
        rate: Its pass rate.
        scores: Its mean by each chosen scorer.
    """

    id: str
    label: str
    ref: str
    status: Chip
    gate: Chip
    rate: str
    scores: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Cell:
    """One experiment's part of a row.

    Attributes:
        glance: The row there.
        key: What names it in an address.
        verdict: How it ended.
        scores: Its value by each chosen scorer.
    """

    glance: RowGlance
    key: str
    verdict: Chip
    scores: list[tuple[str, str]]


def side_by_side_routes(bench: Bench) -> APIRouter:
    """Return the routes."""
    router = APIRouter(include_in_schema=False)

    @router.get("/side-by-side")
    def show(request: Request) -> HTMLResponse:
        wanted = _wanted(request)
        asked = {
            "ids": ",".join(wanted.refs),
            "by": None if wanted.by is None else list(wanted.by) or [""],
            "show": None if wanted.show == "all" else wanted.show,
            "after": wanted.after,
        }
        row = request.query_params.get("row")
        panel = _panel(bench, wanted, row) if row else None
        if request.headers.get("hx-target") == "panel":
            return page(request, "compare_panel.html", panel=panel, asked=asked)
        found = side_by_side(bench, wanted)
        return page(
            request,
            "side_by_side.html",
            found=found,
            wanted=wanted,
            asked=asked,
            columns=[_column(column, found.by) for column in found.columns],
            lines=_lines(found),
            shown=_SHOWN_WORDS,
            most_scorers=MOST_SCORERS,
            next=None if found.next is None else key_text(found.next),
            panel=panel,
            row=row,
        )

    return router


def _wanted(request: Request) -> SideBySideRequest:
    asked = request.query_params
    show = asked.get("show", "all")
    by = [name for name in asked.getlist("by") if name]
    return SideBySideRequest(
        refs=[ref for ref in asked.get("ids", "").split(",") if ref],
        by=by if "by" in asked else None,
        show=show if show in SHOWN else "all",
        after=asked.get("after") or None,
    )


def _panel(bench: Bench, wanted: SideBySideRequest, row: str) -> RowPanel:
    chosen = chosen_columns(bench, wanted.refs)
    sides = [Side(one.experiment.id, one.arm, one.label) for one in chosen]
    return row_panel(bench, sides, row)


def _column(column: Column, by: Sequence[str]) -> ColumnView:
    chosen = column.chosen
    totals = column.graders
    return ColumnView(
        id=chosen.experiment.id,
        label=chosen.label,
        ref=chosen.ref,
        status=status_chip(chosen.state),
        gate=gate_chip(column.gate),
        rate=percent(column.rate.estimate),
        scores=[(name, score_text(totals[name]) if name in totals else DASH) for name in by],
    )


def _lines(found: SideBySide) -> list[list[Cell]]:
    return [
        [
            Cell(
                glance,
                key_text((*glance.row.key, glance.row.arm)),
                glance_chip(glance),
                [(name, number(glance.scores.get(name))) for name in found.by],
            )
            for glance in row
        ]
        for row in found.rows
    ]
