"""`/v2/events`: what changes in the store, as it happens."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from fairtrial.app.bench import Bench
from fairtrial.http.broadcasting import Broadcaster


def event_routes(bench: Bench) -> APIRouter:
    """Return the route."""
    router = APIRouter(tags=["events"])
    broadcaster = Broadcaster(bench)

    @router.get(
        "/v2/events",
        summary="What changes in the store, as server-sent events",
        response_class=StreamingResponse,
        responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
    )
    async def events() -> StreamingResponse:
        return StreamingResponse(broadcaster.stream(), media_type="text/event-stream")

    return router
