"""`harness diff`: what differs between two harnesses."""

from __future__ import annotations

from fairtrial.app.bench import Bench
from fairtrial.app.harnesses import place_of
from fairtrial.app.reports.harness import HarnessDiffReport
from fairtrial.app.requests.harness_diff import Request
from fairtrial.harness.arms import named_arms
from fairtrial.harness.edits import changes, unified_diff


def harness_diff(bench: Bench, request: Request) -> HarnessDiffReport:
    """Return what an edit changes.

    Raises:
        UsageError: there is nothing to compare, or no way to tell what is meant.
        NotFoundError: there is no such file or commit.
        FairtrialError: something cannot be read.
    """
    arms = named_arms(place_of(bench), request.a, request.b)
    a, b = arms.a, arms.b
    return HarnessDiffReport(a, b, arms.said, changes(a, b), unified_diff(a, b))
