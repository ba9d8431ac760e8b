"""`sessions list`: captured sessions, the last ended first."""

from __future__ import annotations

from dataclasses import replace

from fairtrial.app.bench import Bench
from fairtrial.app.reports.sessions import SessionsReport
from fairtrial.app.requests.sessions_list import Request
from fairtrial.app.session_filters import session_query


def sessions_list(bench: Bench, request: Request) -> SessionsReport:
    """Return a page of sessions.

    Raises:
        UsageError: the filter or the time is not understood.
        NotFoundError: `before` names no session.
    """
    query = session_query(bench, request.where, request.since, request.limit, request.before)
    found = bench.store.sessions.newest(replace(query, limit=request.limit + 1))
    return SessionsReport(
        found[: request.limit],
        more=len(found) > request.limit,
        where=request.where,
        since=request.since,
    )
