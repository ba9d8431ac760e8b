"""The two harnesses of an A/B, and what keeps them from being tried."""

from __future__ import annotations

from dataclasses import dataclass

from fairtrial.app.bench import Bench
from fairtrial.app.reports.harness import change_json, harness_json
from fairtrial.app.requests.exp_ab import Request
from fairtrial.harness.arms import default_arms
from fairtrial.harness.edits import Change, changes, unified_diff
from fairtrial.harness.protected import refuse_protected_edits, violations
from fairtrial.harness.protection_list import patterns_of
from fairtrial.harness.sources import Place
from fairtrial.model.harness import Harness
from fairtrial.model.json import Json


@dataclass(frozen=True, slots=True)
class Edit:
    """Two harnesses, and what differs.

    Attributes:
        a: The baseline.
        b: The candidate.
        said: In one line, what was taken for each.
        diff: What differs, as a unified diff.
        changes: The files that differ.
    """

    a: Harness
    b: Harness
    said: str
    diff: str
    changes: tuple[Change, ...]

    def facts(self) -> dict[str, Json]:
        """Return what an experiment keeps of it."""
        return {
            "said": self.said,
            "a": harness_json(self.a),
            "b": harness_json(self.b),
            "diff": self.diff,
            "changes": [change_json(one) for one in self.changes],
        }


def edit_of(bench: Bench, request: Request) -> Edit:
    """Return the edit that is tried.

    Raises:
        UsageError: there is none, it is in a merge conflict, or cannot be read.
        NotFoundError: there is no such file or commit.
        RefusedError: it touches a protected line that was not allowed.
    """
    place = Place(bench.cwd, bench.environ)
    arms = default_arms(place, request.a, request.b)
    allowed = request.allow_protected_edit
    refuse_protected_edits(violations(arms.a, arms.b, patterns_of(place), allowed))
    return Edit(
        arms.a, arms.b, arms.said, unified_diff(arms.a, arms.b), tuple(changes(arms.a, arms.b))
    )
