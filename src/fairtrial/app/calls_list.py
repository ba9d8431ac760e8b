"""`calls list`: recorded model calls, newest first."""

from __future__ import annotations

from fairtrial.app.bench import Bench
from fairtrial.app.filters import filter_of
from fairtrial.app.reports.calls import CallsReport
from fairtrial.app.requests.calls_list import Request
from fairtrial.model.recorded_call import CallQuery
from fairtrial.query.vocabularies.calls import CALL_VOCABULARY


def calls_list(bench: Bench, request: Request) -> CallsReport:
    """Return the newest calls.

    Raises:
        UsageError: the filter is not understood.
        NotFoundError: `before` names no call, or there is no such session.
    """
    store = bench.store.calls
    session = request.session
    if session is not None:  # it may be a prefix, or `latest`
        session = store.find(f"{session}#-1").session
    found = store.newest(
        CallQuery(
            session=session,
            model=request.model,
            failed=request.failed or None,
            limit=request.limit + 1,
            before=None if request.before is None else store.find(request.before).id,
        ),
        filter_of(bench, request.where, CALL_VOCABULARY),
    )
    return CallsReport(found[: request.limit], more=len(found) > request.limit, where=request.where)
