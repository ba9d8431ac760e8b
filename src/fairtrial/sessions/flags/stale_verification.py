"""`stale-verification`: code changed after the last verification.

A session has it when

- the agent had the last word (its state is `completed` or `question`),
- a test, type check, lint or build ran (it passed, failed, or its end cannot be told), and
- after the last one that did, a file of code, not one of tests, configuration or documents, was
  changed by an edit or a write in more than blank lines and comments, and
- no verification was started after that change which was refused, could not start or had not ended.

Level `warn` when two or more such changes followed, or one of more than 3 lines; `info` otherwise.
What a shell command changed does not count: formatters and clean-up often come last.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fairtrial.model.flag import Flag, FlagLevel
from fairtrial.sessions.course import Course
from fairtrial.sessions.file_roles import FileRole
from fairtrial.sessions.flags.diff_lines import lines_of_code
from fairtrial.sessions.flags.rule import CourseRule
from fairtrial.sessions.mutations import Mutation

_NAME: Final = "stale-verification"
_SMALL: Final = 3
_MOST_EVIDENCE: Final = 20


def _find(course: Course) -> Iterator[Flag]:
    if not course.ended:
        return
    ran = [check for check in course.checks if check.ran]
    if not ran:
        return
    last = ran[-1]
    if course.checks[-1] is not last:
        return
    sizes = {m.number: _size(m) for m in course.mutations if m.number > last.number}
    changed = [number for number, size in sizes.items() if size]
    if not changed:
        return
    warn = len(changed) > 1 or sizes[changed[0]] > _SMALL
    yield Flag(
        _NAME,
        FlagLevel.WARN if warn else FlagLevel.INFO,
        f"code changed {len(changed)}× after the last {last.kind}",
        (last.number, *changed[:_MOST_EVIDENCE]),
    )


def _size(mutation: Mutation) -> int:
    """Return how many lines of code a change added and removed."""
    if mutation.role is not FileRole.CODE or mutation.change is None:
        return 0
    return lines_of_code(mutation.change)


RULE: Final = CourseRule(_NAME, "code changed after the last verification", _find)
