"""`/sessions`: captured sessions, and one of them with what is done with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from fairtrial.app.bench import Bench
from fairtrial.app.dataset_add import dataset_add
from fairtrial.app.drafting_options import Checking
from fairtrial.app.eval_new import eval_new
from fairtrial.app.reports.sessions import SessionsReport
from fairtrial.app.requests.dataset_add import Request as AddRequest
from fairtrial.app.requests.eval_new import Request as NewRequest
from fairtrial.app.requests.sessions_list import Request as ListRequest
from fairtrial.app.requests.sessions_show import Request as ShowRequest
from fairtrial.app.row_actions import dataset_names
from fairtrial.app.sessions_list import sessions_list
from fairtrial.app.sessions_show import sessions_show
from fairtrial.http.web.experiment_words import Chip
from fairtrial.http.web.forms import form_of
from fairtrial.http.web.session_words import (
    event_text,
    event_views,
    flag_chips,
    flag_kind,
    grade_chip,
    place_of,
    state_chip,
    title_of,
    took,
)
from fairtrial.http.web.templating import page, with_query
from fairtrial.model.errors import FairtrialError, NotFoundError, UsageError
from fairtrial.model.session import Session

_ROWS: Final = 50
_EVENTS: Final = 300
_Form = Annotated[dict[str, str], Depends(form_of)]


@dataclass(frozen=True, slots=True)
class ListedSession:
    """A line of the list."""

    session: Session
    title: str
    place: str
    took: str
    state: Chip
    flags: list[Chip]


def session_routes(bench: Bench) -> APIRouter:
    """Return the routes."""
    router = APIRouter(include_in_schema=False)

    @router.get("/sessions")
    def sessions(request: Request, where: str = "", before: str | None = None) -> HTMLResponse:
        report, error = _read(bench, where.strip(), before or None)
        return page(
            request,
            "sessions.html",
            400 if error else 200,
            where=where.strip(),
            before=before or None,
            report=report,
            listed=[_listed(found.session, found.flags) for found in report.sessions],
            error=error,
            now=bench.clock.now(),
        )

    @router.get("/sessions/{ref}")
    def session(ref: str, request: Request) -> HTMLResponse:
        return page(request, "session.html", **_context(bench, ref, request), error=None, typed={})

    @router.get("/sessions/{ref}/events/{number}")
    def event(ref: str, number: int, request: Request) -> HTMLResponse:
        report = sessions_show(bench, ShowRequest(ref))
        found = next((one for one in report.events if one.number == number), None)
        if found is None:
            raise NotFoundError(f"{report.found.session.id} has no event {number}")
        return page(
            request,
            "session_event.html",
            session=report.found.session,
            title=title_of(report.found.session),
            number=number,
            text=event_text(found),
        )

    def refused(ref: str, request: Request, form: _Form, error: FairtrialError) -> HTMLResponse:
        """Return the page of the session with what is wrong, and what was typed."""
        context = _context(bench, ref, request)
        return page(request, "session.html", 400, **context, error=error, typed=form)

    @router.post("/sessions/{ref}/case", response_model=None)
    def keep(ref: str, request: Request, form: _Form) -> Response:
        found = bench.store.sessions.find(ref).session
        wanted = AddRequest(form.get("dataset", "").strip(), sessions=(found.id,))
        try:
            added = dataset_add(bench, wanted)
        except FairtrialError as error:
            return refused(ref, request, form, error)
        done = "Kept as a case in" if added.is_new else "It is already in"
        return _back(found.id, done=f"{done} {added.version.ref}")

    @router.post("/sessions/{ref}/eval", response_model=None)
    def draft(ref: str, request: Request, form: _Form) -> Response:
        found = bench.store.sessions.find(ref).session
        checking = Checking(
            verifier=form.get("verifier", ""),
            hidden_tests=_globs(form.get("hidden", "")),
            protected=_globs(form.get("protected", "")),
            suite=form.get("suite", "").strip() or "failures",
        )
        try:
            report = eval_new(bench, NewRequest(found.id, checking))
        except FairtrialError as error:
            return refused(ref, request, form, error)
        names = ", ".join(one.task.name for one in report.drafted)
        check = f"fairtrial eval validate {report.suite}"
        return _back(found.id, done=f"Drafted {report.suite}/{names}; to check: {check}")

    return router


def _globs(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _back(session_id: str, **said: str) -> RedirectResponse:
    return RedirectResponse(with_query(f"/sessions/{session_id}", said), 303)


def _read(
    bench: Bench, where: str, before: str | None
) -> tuple[SessionsReport, FairtrialError | None]:
    """Return a page of the list; a filter that is not understood comes with no rows."""
    try:
        return sessions_list(bench, ListRequest(where or None, limit=_ROWS, before=before)), None
    except UsageError as error:
        return SessionsReport([], more=False, where=where), error


def _listed(session: Session, flags: Any) -> ListedSession:
    return ListedSession(
        session=session,
        title=title_of(session),
        place=place_of(session),
        took=took(session),
        state=state_chip(session),
        flags=flag_chips(flags),
    )


def _context(bench: Bench, ref: str, request: Request) -> dict[str, Any]:
    asked = request.query_params
    report = sessions_show(bench, ShowRequest(ref, thread=asked.get("thread") or None))
    found = report.found
    start = asked.get("from", "")
    first = int(start) if start.isdecimal() and len(start) < 10 else 1
    views = event_views(report.events, found.flags)
    place = next((at for at, one in enumerate(views) if one.number >= first), 0)
    shown = views[place : place + _EVENTS]
    earlier = views[max(0, place - _EVENTS)].number if place else None
    later = views[place + _EVENTS].number if place + _EVENTS < len(views) else None
    return {
        "report": report,
        "session": found.session,
        "flags": [(flag, flag_kind(flag)) for flag in found.flags],
        "title": title_of(found.session),
        "place": place_of(found.session),
        "took": took(found.session),
        "state": state_chip(found.session),
        "grade": grade_chip(report.start),
        "start": report.start,
        "events": shown,
        "on_page": {one.number for one in shown},
        "n_events": len(views),
        "earlier": earlier,
        "later": later,
        "thread": asked.get("thread"),
        "datasets": dataset_names(bench),
    }
