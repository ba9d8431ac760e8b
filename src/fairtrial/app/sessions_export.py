"""`sessions export`: a captured session for another tool or another person."""

from __future__ import annotations

import importlib

from fairtrial.app.bench import Bench
from fairtrial.app.reports.document import DocumentReport, document
from fairtrial.app.requests.sessions_export import Request


def sessions_export(bench: Bench, request: Request) -> DocumentReport:
    """Return a session as a document.

    Raises:
        NotFoundError: the reference names no session, or several.
        UsageError: the file cannot be written.
        StoreError: its events are damaged.
    """
    store = bench.store.sessions
    found = store.find(request.session)
    events = store.events(found.session.id)
    # Each format is a module of its own, and only this one is needed.
    writer = importlib.import_module(f"fairtrial.interchange.session_exports.{request.to}")
    path = bench.output(request.output)
    return document(request.to, lambda stream: writer.write(found, events, stream), path)
