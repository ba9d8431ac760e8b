"""`/compare`: two experiments, row by row."""

from __future__ import annotations

from dataclasses import dataclass
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
from fairtrial.app.exp_show import exp_show
from fairtrial.app.experiment_page import key_text, row_key
from fairtrial.app.reports.case import CaseReport
from fairtrial.app.requests.exp_show import Request as ShowRequest
from fairtrial.http.web.compare_words import (
    HEADINGS,
    decision_chip,
    row_lines,
    scorer_lines,
    verdict_kind,
)
from fairtrial.http.web.diffs import Diff, diff_of
from fairtrial.http.web.experiment_words import Chip
from fairtrial.http.web.row_words import Preview, TrialView, preview, trial_view, trials_chip
from fairtrial.http.web.templating import page
from fairtrial.http.web.words import text_of
from fairtrial.interchange.pictures.of_comparison import comparison_forest
from fairtrial.model.comparison import Compared
from fairtrial.model.errors import NotFoundError, UsageError


@dataclass(frozen=True, slots=True)
class SideView:
    """One side of a row.

    Attributes:
        of: The experiment.
        key: What names the row there in an address.
        verdict: How its trials ended; None when it did not run the row.
        trials: Each of them.
        removed: Whether its outputs were removed.
    """

    of: Compared
    key: str
    verdict: Chip | None
    trials: list[TrialView]
    removed: bool


@dataclass(frozen=True, slots=True)
class RowPanel:
    """A row of both sides in full.

    Attributes:
        case_id: The case.
        condition: Its condition.
        key: What names it in an address.
        input: The case's input; None when it is not in this store.
        expected: What was expected.
        sides: The baseline's and this one's.
        diff: What differs between their first outputs; None without two of them.
    """

    case_id: str
    condition: str
    key: str
    input: Preview | None
    expected: Preview | None
    sides: tuple[SideView, SideView]
    diff: Diff | None


def compare_routes(bench: Bench) -> APIRouter:
    """Return the routes."""
    router = APIRouter(include_in_schema=False)

    @router.get("/compare")
    def compare(request: Request) -> HTMLResponse:
        wanted = _wanted(request)
        row = request.query_params.get("row")
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
    case_id, condition, _ = row_key(text)
    reports = [_case(bench, side.id, case_id) for side in sides]
    views = [
        _side(side, report, case_id, condition) for side, report in zip(sides, reports, strict=True)
    ]
    if not any(view.trials for view in views):
        raise NotFoundError(
            "neither experiment has such a row",
            where=f"{case_id} under {condition}",
            fix="open it from the table",
        )
    cases = [one for report in reversed(reports) if report for one in report.cases]
    case = next((one for one in cases if one.condition == condition), None)
    outputs = [view.trials[0].trial.output for view in views if view.trials and not view.removed]
    both = len(outputs) == len(sides)
    return RowPanel(
        case_id=case_id,
        condition=condition,
        key=text,
        input=None if case is None else preview(case.input),
        expected=None if case is None or case.expected is None else preview(case.expected),
        sides=(views[0], views[1]),
        diff=diff_of(text_of(outputs[0]), text_of(outputs[1])) if both else None,
    )


def _case(bench: Bench, ref: str, case_id: str) -> CaseReport | None:
    """Return a case in an experiment; None when it was not run there."""
    try:
        report = exp_show(bench, ShowRequest(ref, case=case_id))
    except NotFoundError:
        return None
    return report if isinstance(report, CaseReport) else None


def _side(side: Compared, report: CaseReport | None, case_id: str, condition: str) -> SideView:
    trials = [
        trial
        for trial in (() if report is None else report.trials)
        if trial.key.condition == condition and trial.key.arm == side.arm
    ]
    return SideView(
        of=side,
        key=key_text((case_id, condition, side.arm)),
        verdict=trials_chip(trials),
        trials=[trial_view(trial) for trial in trials],
        removed=report is not None and report.outputs_removed,
    )
