"""`/experiments/{id}`: an experiment, its rows, and one of them in full."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from fairtrial.app.bench import Bench
from fairtrial.app.exp_show import exp_show
from fairtrial.app.experiment_page import (
    SHOWN,
    PageRequest,
    experiment_page,
    row_key,
    row_views,
)
from fairtrial.app.reports.case import CaseReport
from fairtrial.app.reports.experiment_page import ExperimentPage, RowView
from fairtrial.app.reports.gate import GateChip
from fairtrial.app.requests.exp_show import Request as ShowRequest
from fairtrial.app.row_actions import dataset_names
from fairtrial.app.row_keys import key_text
from fairtrial.http.web.experiment_words import (
    Chip,
    again_commands,
    gate_chip,
    judges_of,
    source_of,
    started_by,
    status_chip,
    target_of,
    version_of,
)
from fairtrial.http.web.pages.exports import FORMS
from fairtrial.http.web.row_words import Panel, change_chip, panel_of, preview, verdict_chip
from fairtrial.http.web.templating import page
from fairtrial.http.web.tiles import tiles_of
from fairtrial.model.errors import DefectError, NotFoundError

_SHOWN_WORDS: Final = {
    "regressed": "Regressed",
    "improved": "Improved",
    "undecided": "Undecided",
    "failed": "Failed",
    "all": "All",
}


@dataclass(frozen=True, slots=True)
class RowLine:
    """A line of the table."""

    view: RowView
    key: str
    verdict: Chip
    change: Chip | None


def experiment_routes(bench: Bench) -> APIRouter:
    """Return the routes."""
    router = APIRouter(include_in_schema=False)

    @router.get("/experiments/{ref}")
    def experiment(ref: str, request: Request) -> HTMLResponse:
        asked = request.query_params
        wanted = _wanted(request)
        row = asked.get("row")
        if not row and request.headers.get("hx-target") == "panel":
            return page(request, "row_panel.html", panel=None)
        if row and request.headers.get("hx-target") == "panel":
            state = bench.store.experiments.find(ref)
            panel = _panel(bench, state.experiment.id, row, wanted.baseline)
            return page(
                request,
                "row_panel.html",
                experiment=state.experiment,
                panel=panel,
                row=row,
                judges=judges_of(state.experiment),
                datasets=dataset_names(bench),
            )
        report = experiment_page(bench, ref, wanted)
        opened = _panel(bench, report.state.experiment.id, row, wanted.baseline) if row else None
        return page(
            request,
            "experiment.html",
            400 if report.error is not None else 404 if report.baseline_error is not None else 200,
            **_context(report, wanted),
            panel=opened,
            row=row,
            judges=judges_of(report.state.experiment),
            datasets=dataset_names(bench) if opened else (),
        )

    @router.get("/experiments/{ref}/payload")
    def payload(ref: str, request: Request) -> HTMLResponse:
        asked = request.query_params
        case_id, condition, arm = row_key(asked.get("row", ""))
        part = asked.get("part", "output")
        report = _case(bench, ref, case_id)
        case = next((one for one in report.cases if one.condition == condition), None)
        value: Any
        if part in ("input", "expected") and case is not None:
            value = case.input if part == "input" else case.expected
        else:
            number = asked.get("trial", "1")
            value = next(
                (
                    trial.output
                    for trial in report.trials
                    if (trial.key.condition, trial.key.arm, str(trial.key.trial))
                    == (condition, arm, number)
                ),
                None,
            )
        whole = preview(value, 2**40)
        return page(
            request,
            "payload.html",
            state=report.state,
            whole=whole,
            part=part,
            row=asked["row"],
        )

    return router


def _wanted(request: Request) -> PageRequest:
    asked = request.query_params
    rule = asked.get("rule", "")
    show = asked.get("show", "all")
    return PageRequest(
        baseline=asked.get("baseline") or None,
        show=show if show in SHOWN else "all",
        where=asked.get("where", "").strip(),
        after=asked.get("after") or None,
        rule=int(rule) if rule.isdecimal() and len(rule) < 4 else None,
        decide=asked.get("gate") == "now",
    )


def _context(report: ExperimentPage, wanted: PageRequest) -> dict[str, Any]:
    experiment = report.state.experiment
    gate = report.gate
    return {
        "report": report,
        "state": report.state,
        "experiment": experiment,
        "wanted": wanted,
        "status": status_chip(report.state),
        "source": source_of(experiment),
        "target": target_of(experiment),
        "commit": version_of(experiment),
        "started_by": started_by(experiment),
        "gate": None
        if gate is None
        else gate_chip(GateChip(gate.standing, gate.reasons[0] if gate.reasons else None)),
        "tiles": tiles_of(report),
        "chips": _chips(report),
        "lines": [_line(view) for view in report.rows],
        "again": again_commands(report.state),
        "exports": FORMS,
        "graders": [totals.grader for totals in report.graders[:3]],
    }


def _chips(report: ExperimentPage) -> list[tuple[str, str, int | None]]:
    """Return the chips of the table: what each shows, its word, and how many rows it has."""
    flips = report.against.flips
    counts = {
        "regressed": None if flips is None else flips.broken,
        "improved": None if flips is None else flips.fixed,
        "undecided": report.n_undecided,
        "failed": report.n_failed,
        "all": report.state.totals.rows,
    }
    return [(name, word, counts[name]) for name, word in _SHOWN_WORDS.items()]


def _line(view: RowView) -> RowLine:
    row = view.glance.row
    key = key_text((row.key.case_id, row.key.condition, row.arm))
    return RowLine(view, key, verdict_chip(view), change_chip(view))


def _case(bench: Bench, ref: str, case_id: str) -> CaseReport:
    report = exp_show(bench, ShowRequest(ref, case=case_id))
    if not isinstance(report, CaseReport):
        raise DefectError(f"a case is shown as {type(report).__name__}")
    return report


def _panel(bench: Bench, ref: str, text: str, baseline: str | None) -> Panel:
    key = row_key(text)
    case_id, condition, arm = key
    report = _case(bench, ref, case_id)
    views = row_views(bench, report.state, [key], baseline)
    if not views:
        raise NotFoundError(
            f"{report.state.experiment.name} has no such row",
            where=f"{case_id} under {condition} in {arm}",
            fix="open it from the table",
        )
    trials = [
        trial
        for trial in report.trials
        if trial.key.condition == condition and trial.key.arm == arm
    ]
    case = next((one for one in report.cases if one.condition == condition), None)
    return panel_of(views[0], case, trials, removed=report.outputs_removed)
