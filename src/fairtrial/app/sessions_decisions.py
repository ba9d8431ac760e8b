"""`sessions decisions`: the steps at which agents chose badly, or well."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairtrial.app.bench import Bench
from fairtrial.app.deciding import Sought, decisions
from fairtrial.app.reports.decisions import AnchorTrouble, BehaviorLine, DecisionsReport
from fairtrial.app.requests.sessions_decisions import Request
from fairtrial.model.errors import UsageError
from fairtrial.sessions.decision_points.finding import AnchorFailure


def sessions_decisions(bench: Bench, request: Request) -> DecisionsReport:
    """Return decision points, the newest first.

    Raises:
        UsageError: options exclude each other, there is no such behaviour, an anchor's module
            cannot be used, or the filter or the time is not understood.
        NotFoundError: there is no such file, or a reference names no session, or several.
        StoreError: the events of a session are damaged.
    """
    if request.good and request.all:
        raise UsageError("either --good or --all", fix="--all lists good ones beside bad ones")
    sought = Sought.GOOD if request.good else Sought.BOTH if request.all else Sought.BAD
    found = decisions(bench, request.selection, sought, where=request.where, refs=request.sessions)
    return DecisionsReport(
        behaviors=[BehaviorLine(one.name, one.summary, one.rubric) for one in found.anchors],
        decisions=found.chosen,
        sought=sought.value,
        more=found.more,
        sessions=found.sessions,
        shown=request.context,
        other_agents=found.other_agents,
        troubles=list(_troubles(found.failures)),
        broken=found.broken,
    )


def _troubles(failures: Sequence[AnchorFailure]) -> Iterator[AnchorTrouble]:
    """Yield one trouble for each anchor that failed, with the first session it failed at."""
    for name in dict.fromkeys(failure.anchor for failure in failures):
        own = [failure for failure in failures if failure.anchor == name]
        yield AnchorTrouble(name, len(own), own[0].session, own[0].why)
