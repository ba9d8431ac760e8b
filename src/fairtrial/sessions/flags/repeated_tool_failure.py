"""`repeated-tool-failure`: the same tool failed three times in a row with similar input.

A session has it when, in one thread, three calls of one tool failed that no other call of that tool
stands between, and the input of each is similar to that of the one before it:

- a tool that names a file: the same file;
- a shell command: at least 80 % of its characters in the same order, the session's folder taken
  out; or the same program, and the same error but for times, numbers and ids.

Refused, interrupted and background calls are passed over. Whatever a shell command says after a
file was changed is a new try, so a change starts the count again; for other tools it does not. A
search that finds nothing does not fail.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from fairtrial.conduct.program_names import program_words
from fairtrial.model.flag import Flag, FlagLevel
from fairtrial.model.session import Operation, ResultStatus
from fairtrial.sessions.course import Course, Step
from fairtrial.sessions.flags.rule import CourseRule
from fairtrial.sessions.repetition import normalised

_NAME: Final = "repeated-tool-failure"
_TIMES: Final = 3
_ALIKE: Final = 80.0
_LONGEST: Final = 2_000
_NUMBER: Final = re.compile(r"\d+")
_NO_RESULT: Final = (ResultStatus.DENIED, ResultStatus.INTERRUPTED, ResultStatus.RUNNING)
_PASSED_OVER: Final = (Operation.WAIT, Operation.TODO)


def _find(course: Course) -> Iterator[Flag]:
    rows: dict[tuple[str, str], list[Step]] = {}
    for step in course.steps:
        if step.mutations:
            _start_again(rows)
        if step.result.status in _NO_RESULT or step.call.operation in _PASSED_OVER:
            continue
        key = (step.call.thread, step.call.tool)
        row = rows.get(key)
        if not step.failed:
            if row:
                yield from _flag(row)
                row.clear()
        elif row and _similar(row[-1], step, course.session.cwd):
            row.append(step)
        else:
            yield from _flag(row or [])
            rows[key] = [step]
    for row in rows.values():
        yield from _flag(row)


def _start_again(rows: dict[tuple[str, str], list[Step]]) -> None:
    for key in [key for key, row in rows.items() if row and len(row) < _TIMES]:
        if rows[key][-1].call.operation is Operation.SHELL:
            del rows[key]


def _flag(row: list[Step]) -> Iterator[Flag]:
    if len(row) < _TIMES:
        return
    numbers = [number for step in row for number in (step.call.number, step.result.number)]
    first = row[0].call
    what = first.tool if first.command is None else f"`{_shown(first.command)}`"
    yield Flag(
        _NAME,
        FlagLevel.WARN,
        f"{what} failed {len(row)} times in a row",
        tuple(sorted(numbers)),
        {"times": len(row), "tool": first.tool},
    )


def _shown(command: str) -> str:
    line = " ".join(command.split())
    return line if len(line) <= 60 else f"{line[:59]}…"


def _similar(before: Step, after: Step, cwd: str | None) -> bool:
    old, new = before.call, after.call
    if new.command is None or old.command is None:
        if new.paths or old.paths:
            return new.paths == old.paths
        return _alike(repr(old.input), repr(new.input), cwd)
    if _alike(old.command, new.command, cwd):
        return True
    return _program(before) == _program(after) and _error(before) == _error(after)


def _alike(old: str, new: str, cwd: str | None) -> bool:
    if cwd:
        old, new = old.replace(cwd, ""), new.replace(cwd, "")
    if old == new:
        return True
    from rapidfuzz import fuzz  # noqa: PLC0415  # few sessions come this far

    return bool(fuzz.ratio(old[:_LONGEST], new[:_LONGEST]) >= _ALIKE)


def _program(step: Step) -> str | None:
    """Return the program that decided how a shell command ended."""
    if not step.commands:
        return None
    words = program_words(step.commands[-1].words)
    return words[0] if words else None


def _error(step: Step) -> str:
    return _NUMBER.sub("", normalised(step.result.text))


RULE: Final = CourseRule(
    _NAME, "the same tool failed three times in a row with similar input", _find
)
