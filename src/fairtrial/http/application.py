"""The application: routes behind the guard."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from fastapi import Depends, FastAPI
from starlette.routing import Route
from starlette.types import ASGIApp

from fairtrial import __version__
from fairtrial.app.bench import Bench
from fairtrial.app.receiving import Receiver
from fairtrial.http import problems
from fairtrial.http.answers import report_schemas
from fairtrial.http.guard import Gate, Guard, Tally
from fairtrial.http.mcp import PATH as AGENTS_PATH
from fairtrial.http.routes.events import event_routes
from fairtrial.http.routes.health import health_routes
from fairtrial.http.routes.otlp import otlp_routes
from fairtrial.http.routes.paged import page_routes
from fairtrial.http.routes.readings import reading_routes
from fairtrial.http.routes.writings import body_schemas, writing_routes
from fairtrial.http.store_check import checking
from fairtrial.http.web.routes import install_pages
from fairtrial.model.errors import FairtrialError

_PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "what", "where", "why", "fix"],
    "properties": {
        "type": {"type": "string", "description": "A name of the kind of problem"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "All of it as text"},
        "what": {"type": "string", "description": "What happened"},
        "where": {"type": ["string", "null"], "description": "The parameter or object"},
        "why": {"type": ["string", "null"], "description": "The cause"},
        "fix": {"type": ["string", "null"], "description": "What to do next"},
    },
}


def _nobody(_path: str, _status: HTTPStatus, _error: FairtrialError) -> None:
    """Tell nobody of a refusal."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What an application is given beside the bench.

    Attributes:
        gate: Whom it answers.
        receiver: Takes what comes by OpenTelemetry; None takes nothing.
        tally: Where it counts.
        refused: Told of each request that was refused.
        agents: Answers coding agents, by the Model Context Protocol; None answers none.
    """

    gate: Gate
    receiver: Receiver | None = None
    tally: Tally = field(default_factory=Tally)
    refused: Callable[[str, HTTPStatus, FairtrialError], None] = _nobody
    agents: ASGIApp | None = None


def create_app(bench: Bench, around: Surroundings) -> FastAPI:
    """Return the application over a bench; the store is opened when it is first needed.

    Args:
        bench: Whose store is served. Its `control` ends streams of events when it drains.
        around: Whom it answers, and who is told.
    """
    app = FastAPI(
        title="fairtrial",
        version=__version__,
        openapi_url="/v2/openapi.json",
        docs_url=None,  # these pages load scripts from elsewhere
        redoc_url=None,
    )
    app.include_router(health_routes())
    for router in (
        reading_routes(bench),
        page_routes(bench),
        writing_routes(bench),
        event_routes(bench),
    ):
        app.include_router(router, dependencies=[Depends(checking(bench))])
    if around.receiver is not None:
        app.include_router(otlp_routes(around.receiver))
    if around.agents is not None:
        app.router.routes.append(Route(AGENTS_PATH, around.agents))
    install_pages(app, bench, around.gate.scope_of)
    problems.install(app, bench)
    app.add_middleware(Guard, gate=around.gate, tally=around.tally, refused=around.refused)
    _describe(app)
    return app


def _describe(app: FastAPI) -> None:
    """Add to the description of the API what no route says by itself."""
    made = app.openapi

    def described() -> dict[str, Any]:
        document = made()
        components = document.setdefault("components", {})
        schemas = components.setdefault("schemas", {})
        schemas.clear()  # FastAPI's own errors are told as problems
        schemas |= {**report_schemas(), **body_schemas(), "Problem": _PROBLEM}
        components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{}, {"key": []}]
        return document

    app.openapi = described  # type: ignore[method-assign]  # FastAPI's documented way
