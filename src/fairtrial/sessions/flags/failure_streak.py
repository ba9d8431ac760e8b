"""`failure-streak`: five results in a row failed.

A session has it when, in one thread, five results in a row are failures, of whatever tools, and
the calls were made in at least three steps: several calls at once are one decision. Refused,
interrupted and background calls, waiting, and to-do lists are passed over. A search that finds
nothing does not fail.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fairtrial.model.flag import Flag, FlagLevel
from fairtrial.model.session import Operation, ResultStatus
from fairtrial.sessions.course import Course, Step
from fairtrial.sessions.flags.rule import CourseRule

_NAME: Final = "failure-streak"
_TIMES: Final = 5
_STEPS: Final = 3
_NO_RESULT: Final = (ResultStatus.DENIED, ResultStatus.INTERRUPTED, ResultStatus.RUNNING)
_PASSED_OVER: Final = (Operation.WAIT, Operation.TODO)


def _find(course: Course) -> Iterator[Flag]:
    rows: dict[str, list[Step]] = {}
    for step in course.steps:
        if step.result.status in _NO_RESULT or step.call.operation in _PASSED_OVER:
            continue
        row = rows.setdefault(step.call.thread, [])
        if step.failed:
            row.append(step)
            continue
        yield from _flag(row)
        row.clear()
    for row in rows.values():
        yield from _flag(row)


def _flag(row: list[Step]) -> Iterator[Flag]:
    if len(row) < _TIMES or _decisions(row) < _STEPS:
        return
    yield Flag(
        _NAME,
        FlagLevel.WARN,
        f"{len(row)} results in a row failed",
        tuple(step.result.number for step in row),
        {"times": len(row)},
    )


def _decisions(row: list[Step]) -> int:
    """Return in how many steps the calls were made."""
    steps, last = 0, 0
    for step in row:
        if step.call.number > last:
            steps += 1
            last = step.result.number
    return steps


RULE: Final = CourseRule(_NAME, "five results in a row failed", _find)
