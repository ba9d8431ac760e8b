"""`sessions stats`: sums of captured sessions by week and agent."""

from __future__ import annotations

from typing import Any

from fairtrial.app.bench import Bench
from fairtrial.app.picturing import checked_plot, pictured
from fairtrial.app.reports.session_sums import SessionStatsReport
from fairtrial.app.requests.sessions_stats import Request
from fairtrial.app.session_filters import session_query


def sessions_stats(bench: Bench, request: Request) -> Any:
    """Return sums by week and agent, with a picture if one is asked for.

    Raises:
        UsageError: the filter or the time is not understood, or the picture cannot be written.
    """
    plot = checked_plot(bench, request.plot)
    query = session_query(bench, request.where, request.since)
    report = SessionStatsReport(bench.store.sessions.tallies(query))
    if plot is None:
        return report
    from fairtrial.app.plots.sessions import sessions_picture  # noqa: PLC0415  # rarely asked for

    return pictured(report, sessions_picture(report), plot)
