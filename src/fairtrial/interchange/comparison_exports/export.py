"""What an export of a comparison is made of, and what all formats word alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from fairtrial.interchange.pictures.of_comparison import points
from fairtrial.model.command_line import option
from fairtrial.model.comparison import Change, Comparison, RowChange, Side
from fairtrial.model.decision import Decision, Outcome
from fairtrial.model.delta import Delta
from fairtrial.model.json import Json
from fairtrial.model.noise import Luck

ORDER = (
    Change.BROKEN,
    Change.FIXED,
    Change.REGRESSED,
    Change.IMPROVED,
    Change.NOT_COMPARABLE,
    Change.UNDECIDED,
    Change.NEW,
    Change.DROPPED,
    Change.SAME,
)
"""The classes of change, what a reader must know first."""

WORDS = {change: change.value.replace("_", " ") for change in Change}
VERDICTS = {
    Outcome.SHIP: "Ship",
    Outcome.HOLD: "Hold",
    Outcome.TOO_FEW: "Too few",
    Outcome.NO_VERDICT: "No verdict",
    Outcome.CONTINUE: "Continue",
    Outcome.STOP: "Stop",
}


@dataclass(frozen=True, slots=True)
class ComparisonExport:
    """One comparison, ready to be written in any format.

    Attributes:
        comparison: The comparison.
        decision: What its gate or margin says; None when neither was asked.
        same: Returns the rows that are the same in A and B, sorted by key; they are not among the
            comparison's own lists.
        marker: The name in the Markdown's first line.
        notes: What else belongs beside the numbers, a sentence each.
        version: The version of fairtrial.
        luck: How far two unchanged runs of this size differ; None when nobody measured it.
    """

    comparison: Comparison
    decision: Decision | None
    same: Callable[[], Sequence[RowChange]]
    marker: str
    notes: Sequence[str] = ()
    version: str = ""
    luck: Luck | None = None

    def rows(self) -> Iterator[RowChange]:
        """Yield every row of both experiments, class by class, what broke first."""
        for change in ORDER:
            yield from self.same() if change is Change.SAME else self.comparison.rows[change]

    @property
    def title(self) -> str:
        """The decision, if there is one, and what was compared."""
        found = self.comparison
        names = f"{found.b.label} against {found.a.label}"
        return names if self.decision is None else f"{VERDICTS[self.decision.outcome]}: {names}"


def marker_of(name: str) -> str:
    """Return a name that may stand in an HTML comment and a search for it."""
    return re.sub(r"[^A-Za-z0-9._]+", "-", name).strip("-.")[:60] or "comparison"


def row_json(row: RowChange) -> dict[str, Json]:
    """Return a row as one JSON object; its keys are part of the documented interface."""
    return {
        "case_id": row.key.case_id,
        "condition": row.key.condition,
        "change": row.change.value,
        "a_passed": None if row.a is None else row.a.passed,
        "a_decided": None if row.a is None else row.a.decided,
        "a_undecided": None if row.a is None else row.a.undecided,
        "a_score": None if row.a is None else row.a.score,
        "b_passed": None if row.b is None else row.b.passed,
        "b_decided": None if row.b is None else row.b.decided,
        "b_undecided": None if row.b is None else row.b.undecided,
        "b_score": None if row.b is None else row.b.score,
        "within_noise": row.within_noise,
        "reason": row.reason,
    }


def change_of(row: RowChange) -> str:
    """Return a row's trials in words, e.g. `1/3 → 3/3`."""
    return " → ".join(_side(side) for side in (row.a, row.b) if side is not None)


def _side(side: Side) -> str:
    return f"{side.passed}/{side.decided}" if side.decided else "no verdict"


def interval_of(delta: Delta) -> str:
    """Return a difference in words, e.g. `+12.5 points (95 % interval +3.1 to +21.9)`."""
    if delta.estimate is None:
        return f"unknown: {delta.reason}"
    text = f"{points(delta.estimate)} points"
    if delta.lower is None or delta.upper is None:
        return f"{text}, no interval: {delta.reason}"
    ends = f"{points(delta.lower)} to {points(delta.upper)}"
    return f"{text} ({100 * delta.level:g} % interval {ends})"


def counts_of(found: Comparison) -> str:
    """Return how many rows have which change, those that there are."""
    counts = [
        f"{found.counts[change]:,} {WORDS[change]}"
        for change in ORDER
        if change in (Change.BROKEN, Change.FIXED) or found.counts.get(change)
    ]
    return ", ".join(counts)


def commands(found: Comparison) -> list[tuple[str, str]]:
    """Return command lines worth trying now, each with what it does."""
    broken, fixed = found.rows[Change.BROKEN], found.rows[Change.FIXED]
    steps = []
    for rows, what in ((broken, "read one broken case in full"), (fixed, "read one fixed case")):
        if rows:
            case = option("--case", rows[0].key.case_id)
            steps.append((f"fairtrial exp show {found.b.id} {case}", what))
            break
    page = f"fairtrial exp compare {found.a.id} {found.b.id} --to html -o change.html"
    return [*steps, (page, "read all of it on a page")]
