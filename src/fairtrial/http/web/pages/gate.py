"""`/gate`: the rules of the release gate of the project that the server was started in."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from fairtrial.app.bench import Bench
from fairtrial.app.project_rules import clear_rules, kept_rules, rules_text, set_written_rules
from fairtrial.http.web.forms import form_of
from fairtrial.http.web.templating import page, with_query
from fairtrial.model.errors import UsageError


def gate_routes(bench: Bench) -> APIRouter:
    """Return the routes."""
    router = APIRouter(include_in_schema=False)

    def shown(request: Request, status: int = 200, /, **context: Any) -> HTMLResponse:
        kept = kept_rules(bench)
        return page(
            request,
            "gate.html",
            status,
            kept=kept,
            **{"text": rules_text(kept.rules), "error": None, "experiment": "", **context},
        )

    @router.get("/gate")
    def show(request: Request, experiment: str = "") -> HTMLResponse:
        return shown(request, experiment=experiment)

    @router.post("/gate", response_model=None)
    def change(request: Request, form: Annotated[dict[str, str], Depends(form_of)]) -> Response:
        text, experiment = form.get("rules", ""), form.get("experiment", "")
        if form.get("what") == "clear":
            clear_rules(bench)
            return _back(experiment, "The project has no rules now")
        try:
            set_written_rules(bench, text)
        except UsageError as error:
            return shown(request, 400, text=text, error=error, experiment=experiment)
        return _back(experiment, "These rules hold from now on")

    return router


def _back(experiment: str, done: str) -> RedirectResponse:
    if experiment:
        return RedirectResponse(f"/experiments/{quote(experiment, safe='')}", 303)
    return RedirectResponse(with_query("/gate", {"done": done}), 303)
