"""How `serve` tells what happens."""

from __future__ import annotations

import dataclasses
from typing import Any, Final

from fairtrial.app.reports.serve import ServeReport
from fairtrial.app.requests.serve import Request
from fairtrial.cli import streams
from fairtrial.cli.harmless import harmless_lines
from fairtrial.cli.render.proxy import refused_line
from fairtrial.cli.render.serve import ended_lines, received_line, started_lines
from fairtrial.model.events import Event, Noted, RequestRefused, ServerStarted, SessionsReceived


class Voice:
    """Words for the events of a server. See `fairtrial.cli.serving.Voice`."""

    in_flight: Final = "requests"
    shared: Final = False

    def __init__(self, request: Request) -> None:
        self._quiet = request.quiet

    def starts(self, event: Event) -> bool:
        """Return whether it listens from now on."""
        return isinstance(event, ServerStarted)

    def text(self, event: Event) -> str:
        """Return lines about an event; empty when there is nothing to say."""
        match event:
            case ServerStarted():
                return started_lines(event)
            case SessionsReceived() if not self._quiet:
                return received_line(event)
            case RequestRefused() if not self._quiet:
                return refused_line(event)
            case Noted():
                _aside(event)
        return ""

    def json(self, event: Event) -> dict[str, Any] | None:
        """Return an event as one object; None when there is nothing to say."""
        match event:
            case ServerStarted():
                return {"schema": "fairtrial.serve_started/1", **dataclasses.asdict(event)}
            case SessionsReceived(sessions):
                return {"schema": "fairtrial.serve_received/1", "sessions": list(sessions)}
            case RequestRefused():
                return {"schema": "fairtrial.serve_refused/1", **dataclasses.asdict(event)}
            case Noted():
                _aside(event)
        return None

    def ended(self, report: ServeReport) -> str:
        """Return what it came to."""
        return ended_lines(report)


def _aside(event: Noted) -> None:
    """Tell trouble beside what is told: it is no event of the server's."""
    streams.tell(f"{harmless_lines(event.text)}\n")
