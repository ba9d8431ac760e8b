"""`completion`: what makes a shell complete command lines."""

from __future__ import annotations

from fairtrial.app.bench import Bench
from fairtrial.app.completion_scripts import SCRIPTS
from fairtrial.app.reports.document import DocumentReport, document
from fairtrial.app.requests.completion import Request


def completion(_bench: Bench, request: Request) -> DocumentReport:
    """Return the script of a shell."""
    script = SCRIPTS[request.shell]
    return document(request.shell, lambda stream: stream.write(script), None)
