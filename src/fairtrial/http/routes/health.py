"""`/v2/health`: the server answers."""

from __future__ import annotations

from fastapi import APIRouter

from fairtrial import __version__


def health_routes() -> APIRouter:
    """Return the route."""
    router = APIRouter(tags=["server"])

    @router.get("/v2/health", summary="Whether the server answers, and its version")
    async def health() -> dict[str, str]:
        return {"schema": "fairtrial.health/1", "status": "ok", "version": __version__}

    return router
