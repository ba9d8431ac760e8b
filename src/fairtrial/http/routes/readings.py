"""What can be read of experiments and sessions: the verbs of the command line."""

from __future__ import annotations

from fastapi import APIRouter

from fairtrial.app.bench import Bench
from fairtrial.http.verb_routes import Reading, add_readings

_PAGE = {"cursor": "before"}
_READINGS = (
    Reading("/v2/experiments", ("exp", "list"), renamed=_PAGE),
    Reading("/v2/experiments/{experiment}", ("exp", "show"), {"experiment": "experiment"}),
    Reading("/v2/sessions", ("sessions", "list"), renamed=_PAGE),
    Reading(
        "/v2/sessions/{session}",
        ("sessions", "show"),
        {"session": "session"},
        left_out=frozenset({"full"}),  # JSON is always whole
    ),
)


def reading_routes(bench: Bench) -> APIRouter:
    """Return the routes."""
    router = APIRouter()
    add_readings(router, bench, _READINGS)
    return router
