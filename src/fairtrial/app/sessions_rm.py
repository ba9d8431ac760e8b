"""`sessions rm`: removes captured sessions for good."""

from __future__ import annotations

from datetime import timedelta

from fairtrial.app.bench import Bench
from fairtrial.app.quantities import seconds_of
from fairtrial.app.removing import remove_sessions, snapshots_of_tasks
from fairtrial.app.reports.sessions import RemovedSessionsReport
from fairtrial.app.requests.sessions_rm import Request
from fairtrial.app.session_filters import session_query
from fairtrial.model.errors import RefusedError, UsageError


def sessions_rm(bench: Bench, request: Request) -> RemovedSessionsReport:
    """Remove sessions, and return which.

    Raises:
        UsageError: nothing says which, or it is not understood.
        NotFoundError: a reference names no session, or several.
        RefusedError: a filter or an age chose them, and --yes is missing.
        StoreError: the store cannot be written.
    """
    chosen = request.where is not None or request.older_than is not None
    if not chosen and not request.sessions:
        raise UsageError(
            "nothing says which sessions to remove",
            fix="name them, or choose them with --where or --older-than",
        )
    store = bench.store.sessions
    found = [store.find(ref).session.id for ref in request.sessions]
    if chosen:
        query = session_query(bench, request.where)
        until = None
        if request.older_than is not None:
            age = seconds_of(request.older_than, "--older-than")
            until = bench.clock.now() - timedelta(seconds=age)
        found += store.ids(query, until)
    found = list(dict.fromkeys(found))
    if chosen and found and not request.yes:
        noun = "session" if len(found) == 1 else "sessions"
        raise RefusedError(
            f"{len(found):,} {noun} would be removed for good",
            fix="add --yes to remove them; `fairtrial sessions list` takes the same filter",
        )
    kept = snapshots_of_tasks(bench, found)
    return RemovedSessionsReport(found, remove_sessions(bench, found), kept)
