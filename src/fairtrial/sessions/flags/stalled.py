"""`stalled`: the session came to nothing more.

A session has it when one of these holds, the first that does:

1. It is open: a call or the model's answer is pending, there is no sign of an end, and nothing was
   written to its transcript in the ten minutes before it was looked at. Level `warn`. When the last
   thing it tells of is trouble with the model's service, it is no stall.
2. Twelve calls of the main thread in a row changed no file, brought no verification with another
   verdict than the last of its kind, and told nothing new: the same call had been made before, with
   a result that is equal but for times and ids. Waiting for something, to-do lists and refused
   calls are passed over. Level `warn`.
3. One shell command took longer than ten minutes. Level `info`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from fairtrial.model.flag import Flag, FlagLevel
from fairtrial.model.session import MAIN, ApiTrouble, Operation, ResultStatus, SessionState
from fairtrial.sessions.course import Course, Step
from fairtrial.sessions.flags.rule import CourseRule
from fairtrial.sessions.repetition import is_poll, normalised
from fairtrial.sessions.verdicts import Verdict

_NAME: Final = "stalled"
_QUIET: Final = timedelta(minutes=10)
_CALLS: Final = 12
_LONG_S: Final = 600.0
_PASSED_OVER: Final = (Operation.TODO, Operation.WAIT, Operation.AGENT)


def _find(course: Course) -> Iterator[Flag]:
    flag = _quiet(course) or _idle(course) or _slow(course)
    if flag is not None:
        yield flag


def _quiet(course: Course) -> Flag | None:
    ended = course.session.ended_at
    if course.session.state is not SessionState.OPEN or ended is None or not course.events:
        return None
    last = course.events[-1]
    if course.now - ended < _QUIET or isinstance(last, ApiTrouble):
        return None
    pending = course.pending[-1] if course.pending else None
    what = "the model's answer" if pending is None else pending.tool
    number = last.number if pending is None else pending.number
    return Flag(
        _NAME, FlagLevel.WARN, f"nothing came for ten minutes; {what} was pending", (number,)
    )


def _idle(course: Course) -> Flag | None:
    if len(course.steps) - len({step.key for step in course.steps}) < _CALLS:
        return None
    seen: dict[bytes, set[str]] = {}
    first: dict[bytes, str] = {}
    verdicts: dict[str, Verdict] = {}
    row: list[Step] = []
    for step in course.steps:
        if _is_passed_over(step):
            continue
        told = _is_new(step, first, seen)
        for check in step.checks:
            told = told or verdicts.get(check.kind) is not check.verdict
            verdicts[check.kind] = check.verdict
        if told or step.mutations:
            if len(row) >= _CALLS:
                break
            row = []
        else:
            row.append(step)
    if len(row) < _CALLS:
        return None
    return Flag(
        _NAME,
        FlagLevel.WARN,
        f"{len(row)} calls in a row changed nothing and told nothing new",
        tuple(step.call.number for step in row[:_CALLS]),
    )


def _is_passed_over(step: Step) -> bool:
    if step.call.thread != MAIN or step.call.operation in _PASSED_OVER:
        return True
    return step.result.status is ResultStatus.DENIED


def _is_new(step: Step, first: dict[bytes, str], seen: dict[bytes, set[str]]) -> bool:
    """Return whether a call tells what it did not tell before; remember that it did."""
    key, text = step.key, step.result.text
    if key not in first:
        first[key] = text
        return True
    if is_poll(step.call, step.commands):
        return True
    if key not in seen:
        seen[key] = {normalised(first[key])}
    plain = normalised(text)
    if plain in seen[key]:
        return False
    seen[key].add(plain)
    return True


def _slow(course: Course) -> Flag | None:
    for step in course.steps:
        taken = step.result.duration_s
        if taken is not None and taken > _LONG_S and step.call.operation is Operation.SHELL:
            return Flag(
                _NAME,
                FlagLevel.INFO,
                f"one command took {taken / 60:.0f} minutes",
                (step.call.number, step.result.number),
                {"seconds": round(taken, 1)},
            )
    return None


RULE: Final = CourseRule(_NAME, "the session came to nothing more", _find)
