"""How `mcp` tells what happens: by HTTP only, since standard output belongs to the protocol."""

from __future__ import annotations

import dataclasses
from typing import Any, Final

from fairtrial.app.reports.mcp import McpReport
from fairtrial.app.requests.mcp import Request
from fairtrial.cli.render.mcp import ended_lines
from fairtrial.cli.render.proxy import refused_line
from fairtrial.cli.render.serve import started_lines
from fairtrial.model.events import Event, RequestRefused, ServerStarted


class Voice:
    """Words for the events of an MCP server. See `fairtrial.cli.serving.Voice`."""

    in_flight: Final = "calls"
    shared: Final = False

    def __init__(self, request: Request) -> None:
        self._silent = not request.http

    def starts(self, event: Event) -> bool:
        """Return whether it listens from now on."""
        return isinstance(event, ServerStarted)

    def text(self, event: Event) -> str:
        """Return lines about an event; empty when there is nothing to say."""
        match event:
            case ServerStarted():
                return started_lines(event)
            case RequestRefused():
                return refused_line(event)
        return ""

    def json(self, event: Event) -> dict[str, Any] | None:
        """Return an event as one object; None when there is nothing to say."""
        match event:
            case ServerStarted():
                return {"schema": "fairtrial.mcp_started/1", **dataclasses.asdict(event)}
            case RequestRefused():
                return {"schema": "fairtrial.mcp_refused/1", **dataclasses.asdict(event)}
        return None

    def ended(self, report: McpReport) -> str:
        """Return what it came to."""
        return "" if self._silent else ended_lines(report)
