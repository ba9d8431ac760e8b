"""`churn`: the agent wrote and threw away its own lines on one file over and over.

A session has it when, on one file that is no document,

- at least four edits remove lines that the agent itself had added in the session, and
- at least 30 % of the lines that it added there are lost again.

Lines with fewer than three letters or digits do not count, nor do lines that an edit only moves,
nor what a shell command did. Level `warn` when two or more verifications failed after the first of
these edits; else `info`: rewriting may be how it works.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from fairtrial.model.flag import Flag, FlagLevel
from fairtrial.model.session import ChangeKind
from fairtrial.sessions.course import Course
from fairtrial.sessions.flags.diff_lines import diff_lines
from fairtrial.sessions.flags.rule import CourseRule
from fairtrial.sessions.mutations import Mutation
from fairtrial.sessions.verdicts import Verdict

_NAME: Final = "churn"
_EDITS: Final = 4
_LOST: Final = 0.3
_FAILED: Final = 2
_LEAST_SIGNS: Final = 3


@dataclass(slots=True)
class _Tally:
    """What became of the agent's own lines in one file."""

    own: Counter[str] = field(default_factory=Counter)
    added: int = 0
    lost: int = 0
    edits: list[int] = field(default_factory=list)


def _find(course: Course) -> Iterator[Flag]:
    tallies: dict[str, _Tally] = {}
    for mutation in course.mutations:
        if mutation.is_code and mutation.change is not None:
            _count(tallies.setdefault(mutation.path, _Tally()), mutation)
    for path, tally in tallies.items():
        if len(tally.edits) < _EDITS or tally.lost < _LOST * tally.added:
            continue
        failed = sum(
            check.verdict is Verdict.FAIL and check.number > tally.edits[0]
            for check in course.checks
        )
        yield Flag(
            _NAME,
            FlagLevel.WARN if failed >= _FAILED else FlagLevel.INFO,
            f"{path}: {len(tally.edits)} edits threw away {tally.lost} of {tally.added} own lines",
            tuple(tally.edits),
            {"file": path, "added": tally.added, "lost": tally.lost, "failed": failed},
        )


def _count(tally: _Tally, mutation: Mutation) -> None:
    change = mutation.change
    if change is None:
        return
    if change.kind is ChangeKind.DELETE:
        return
    lines = diff_lines(change)
    if not lines.whole:
        return
    added = Counter(line for line in lines.added if _counts(line))
    if change.kind is ChangeKind.ADD and tally.own:
        removed = tally.own - added  # the file is written anew
        added = added - tally.own
    else:
        removed = Counter(line for line in lines.removed if _counts(line))
    lost = (removed & tally.own).total()
    if lost:
        tally.edits.append(mutation.number)
        tally.lost += lost
        tally.own -= removed
    tally.added += added.total()
    tally.own += added


def _counts(line: str) -> bool:
    signs = 0
    for sign in line:
        signs += sign.isalnum()
        if signs == _LEAST_SIGNS:
            return True
    return False


RULE: Final = CourseRule(
    _NAME, "the agent wrote and threw away its own lines on one file over and over", _find
)
