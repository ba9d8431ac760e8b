"""`sessions export`: captured sessions for another tool or another person."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TextIO

from fairtrial.app.bench import Bench
from fairtrial.app.reports.document import DocumentReport, document
from fairtrial.app.requests.sessions_export import Request
from fairtrial.app.session_filters import session_query
from fairtrial.model.errors import UsageError


def sessions_export(bench: Bench, request: Request) -> DocumentReport:
    """Return sessions as a document.

    Raises:
        NotFoundError: the reference names no session, or several.
        UsageError: nothing says which, the filter is not understood, or the file cannot be written.
        StoreError: its events are damaged.
    """
    store = bench.store.sessions
    chosen = _chosen(bench, request)
    # Each format is a module of its own, and only this one is needed.
    writer = importlib.import_module(f"fairtrial.interchange.session_exports.{request.to}")

    def write(stream: TextIO) -> None:
        for ref in chosen:
            writer.write(store.find(ref), store.events(ref), stream)

    return document(request.to, write, bench.output(request.output))


def _chosen(bench: Bench, request: Request) -> Sequence[str]:
    """Return the ids of the sessions that are meant."""
    store = bench.store.sessions
    if request.where is None:
        if request.session is None:
            raise UsageError(
                "nothing says which sessions to write", fix="name one, or choose with --where"
            )
        return [store.find(request.session).session.id]
    if request.session is not None:
        raise UsageError("either a session or --where", fix="leave one of them out")
    return store.ids(session_query(bench, request.where), None)
