"""`/v2/events`: what changes in the store, as it happens."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from fairtrial.app.bench import Bench
from fairtrial.http.broadcasting import Broadcaster

_LAST: Final = "Last-Event-ID"


def event_routes(bench: Bench) -> APIRouter:
    """Return the route."""
    router = APIRouter(tags=["events"])
    broadcaster = Broadcaster(bench)

    @router.get(
        "/v2/events",
        summary="What changes in the store, as server-sent events",
        response_class=StreamingResponse,
        openapi_extra={
            "parameters": [
                {
                    "name": _LAST,
                    "in": "header",
                    "required": False,
                    "description": "What was told after this event comes first",
                    "schema": {"type": "string"},
                }
            ]
        },
        responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
    )
    async def events(request: Request) -> StreamingResponse:
        stream = broadcaster.stream(request.headers.get(_LAST))
        return StreamingResponse(stream, media_type="text/event-stream")

    return router
