"""How `proxy` tells what happens."""

from __future__ import annotations

import dataclasses
from typing import Any, Final

from fairtrial.app.reports.calls import call_json
from fairtrial.app.reports.proxy import ProxyReport
from fairtrial.app.requests.proxy import Request
from fairtrial.cli.render.proxy import call_line, ended_lines, refused_line, started_lines
from fairtrial.model.events import CallRecorded, Event, ProxyStarted, RequestRefused


class Voice:
    """Words for the events of a proxy. See `fairtrial.cli.serving.Voice`."""

    in_flight: Final = "calls"

    def __init__(self, request: Request) -> None:
        self.shared = bool(request.command)
        self._silent = request.quiet and self.shared
        self._quiet = request.quiet

    def starts(self, event: Event) -> bool:
        """Return whether it listens from now on."""
        return isinstance(event, ProxyStarted)

    def text(self, event: Event) -> str:
        """Return lines about an event; empty when there is nothing to say."""
        match event:
            case ProxyStarted():
                return "" if self._silent else started_lines(event, self.shared)
            case CallRecorded(call) if not self._quiet:
                return call_line(call)
            case RequestRefused():
                return refused_line(event)
        return ""

    def json(self, event: Event) -> dict[str, Any] | None:
        """Return an event as one object; None when there is nothing to say."""
        match event:
            case ProxyStarted():
                return {"schema": "fairtrial.proxy_started/1", **dataclasses.asdict(event)}
            case CallRecorded(call):
                return {"schema": "fairtrial.proxy_call/1", "call": call_json(call)}
            case RequestRefused():
                return {"schema": "fairtrial.proxy_refused/1", **dataclasses.asdict(event)}
        return None

    def ended(self, report: ProxyReport) -> str:
        """Return what it came to."""
        return "" if self._silent and not report.lost else ended_lines(report)
