"""`sessions show`: one captured session."""

from __future__ import annotations

from fairtrial.app.bench import Bench
from fairtrial.app.reports.session import SessionReport
from fairtrial.app.requests.sessions_show import Request
from fairtrial.app.session_starts import start_of
from fairtrial.model.errors import NotFoundError
from fairtrial.sessions.decision_points.finding import points_of
from fairtrial.sessions.decision_points.registry import built_in_anchors


def sessions_show(bench: Bench, request: Request) -> SessionReport:
    """Return a session with its events.

    Raises:
        NotFoundError: the reference names no session, or several; or it has no such thread.
        StoreError: its events are damaged.
    """
    store = bench.store.sessions
    found = store.find(request.session)
    events = store.events(found.session.id)
    start = start_of(bench, found.session, events)
    decisions, _ = points_of(built_in_anchors(), found.session, events)
    if request.thread is not None:
        threads = list(dict.fromkeys(event.thread for event in events))
        if request.thread not in threads:
            raise NotFoundError(
                f"{found.session.id} has no thread {request.thread}",
                fix=f"it has: {', '.join(threads) or 'none'}",
            )
        events = [event for event in events if event.thread == request.thread]
    children = store.children(found.session.id)
    return SessionReport(found, start, events, children, request.full, decisions)
