"""A comparison in the words of its page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from fairtrial.app.compare_page import ComparedRow, ComparePage
from fairtrial.app.row_keys import key_text
from fairtrial.http.web.experiment_words import Chip
from fairtrial.http.web.words import DASH, number, percent, points, signed
from fairtrial.model.comparison import Change, Side
from fairtrial.model.decision import Decision, Outcome
from fairtrial.model.delta import Delta, Direction

HEADINGS: Final = {
    "regressed": "Regressed",
    "improved": "Improved",
    "same": "Same",
    "new": "New",
    "dropped": "Dropped",
    "undecided": "Undecided",
    "not_comparable": "Not comparable",
}
_CHANGES: Final[Mapping[Change, Chip]] = {
    Change.BROKEN: Chip("Broken", "bad", "solved by the baseline, not by this one"),
    Change.REGRESSED: Chip("Worse", "bad", "passed less often or scored lower, without a flip"),
    Change.FIXED: Chip("Fixed", "good", "solved by this one, not by the baseline"),
    Change.IMPROVED: Chip("Better", "good", "passed more often or scored higher, without a flip"),
    Change.SAME: Chip("Same", "quiet"),
    Change.NEW: Chip("New", "quiet", "not in the baseline"),
    Change.DROPPED: Chip("Dropped", "quiet", "only in the baseline"),
    Change.UNDECIDED: Chip("Undecided", "warn", "without a verdict on one side"),
    Change.NOT_COMPARABLE: Chip("Not comparable", "warn"),
}
_OUTCOMES: Final = {Outcome.SHIP: Chip("Ship", "good"), Outcome.HOLD: Chip("Hold", "bad")}


@dataclass(frozen=True, slots=True)
class ScorerLine:
    """A line of the table of scorers.

    Attributes:
        name: The scorer.
        a: Its mean in the baseline.
        b: Its mean in this one.
        change: The difference.
        interval: Its interval; a dash where there is none.
        better: Whether it is surely better; False when surely worse, None when neither.
        improved: Rows that it scored higher.
        regressed: Rows that it scored lower.
        n: Rows.
        reason: Why something is undefined.
    """

    name: str
    a: str
    b: str
    change: str
    interval: str
    better: bool | None
    improved: int
    regressed: int
    n: int
    reason: str


@dataclass(frozen=True, slots=True)
class RowLine:
    """A line of the table of rows."""

    row: ComparedRow
    key: str
    chip: Chip
    a: str
    b: str


def scorer_lines(page: ComparePage) -> list[ScorerLine]:
    """Return the table of scorers: what passed, and each grader that means the same in both."""
    found = page.report.comparison
    fixed = found.counts[Change.FIXED] + found.counts[Change.IMPROVED]
    broken = found.counts[Change.BROKEN] + found.counts[Change.REGRESSED]
    lines = [_line("Pass rate", found.delta, (fixed, broken), shares=True)]
    for part in found.graders:
        moved = page.moves[part.name]
        ends = (part.delta.a or 0.0, part.delta.b or 0.0)
        shares = all(0.0 <= end <= 1.0 for end in ends)
        lines.append(_line(part.name, part.delta, (moved.improved, moved.regressed), shares=shares))
    return lines


def _line(name: str, delta: Delta, moved: tuple[int, int], *, shares: bool) -> ScorerLine:
    show = percent if shares else number
    interval = DASH
    if delta.lower is not None and delta.upper is not None:
        interval = f"{_change(delta.lower, shares=shares)} to {_change(delta.upper, shares=shares)}"
    return ScorerLine(
        name=name,
        a=show(delta.a),
        b=show(delta.b),
        change=_change(delta.estimate, shares=shares)
        + (" points" if shares and delta.estimate is not None else ""),
        interval=interval,
        better={Direction.BETTER: True, Direction.WORSE: False}.get(delta.verdict),
        improved=moved[0],
        regressed=moved[1],
        n=delta.n,
        reason=delta.reason,
    )


def _change(value: float | None, *, shares: bool) -> str:
    return points(value) if shares else signed(value)


def row_lines(page: ComparePage) -> list[RowLine]:
    """Return the table of rows."""
    b = page.report.comparison.b
    return [
        RowLine(
            row,
            key_text((*row.change.key, b.arm)),
            _CHANGES[row.change.change],
            _side(row.change.a),
            _side(row.change.b),
        )
        for row in page.rows
    ]


def _side(side: Side | None) -> str:
    if side is None:
        return DASH
    if not side.decided:
        return "undecided"
    passed = {0: "failed", side.decided: "passed"}.get(side.passed, "flaky")
    several = f" {side.passed}/{side.decided}" if side.decided > 1 else ""
    score = "" if side.score is None or side.score in (0.0, 1.0) else f" · {number(side.score)}"
    return f"{passed}{several}{score}"


def decision_chip(decision: Decision | None) -> Chip | None:
    """Return ship, hold or another decision; None when nobody asked."""
    if decision is None:
        return None
    words = decision.outcome.value.replace("_", " ").capitalize()
    return _OUTCOMES.get(decision.outcome, Chip(words, "warn"))


def verdict_kind(page: ComparePage) -> str:
    """Return how the sentence is coloured."""
    found = page.report.comparison
    if found.sentence.startswith("No verdict"):
        return "warn"
    return {Direction.BETTER: "good", Direction.WORSE: "bad"}.get(found.delta.verdict, "quiet")
