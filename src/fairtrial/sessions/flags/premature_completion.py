"""`premature-completion`: the agent stopped while the last test run was failing.

A session has it when

- the agent had the last word (its state is `completed` or `question`), and
- of all test runs that passed or failed, in any thread, the last one failed.

Level `warn`; `info` when a text at the end of a turn after that run admits a failure, when nothing
was changed before it and no such text claims that the work is done, or when it fails in the same
way as the last run before the first change: then the failure was there before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fairtrial.conduct.claims import admits_failure, claims_done
from fairtrial.model.flag import Flag, FlagLevel
from fairtrial.sessions.course import Check, Course
from fairtrial.sessions.failing_tests import failed_before_changes
from fairtrial.sessions.flags.rule import CourseRule
from fairtrial.sessions.verdicts import Verdict

_NAME: Final = "premature-completion"


def _find(course: Course) -> Iterator[Flag]:
    last = course.last_test()
    if not course.ended or last is None or last.verdict is not Verdict.FAIL:
        return
    why = _excuse(course, last)
    summary = f"stopped while {last.program} was failing"
    said = [turn.said for turn in course.turns if turn.said is not None and turn.said > last.number]
    yield Flag(
        _NAME,
        FlagLevel.WARN if why is None else FlagLevel.INFO,
        summary if why is None else f"{summary}; {why}",
        (last.call.number, last.number, *said[-1:]),
    )


def _excuse(course: Course, last: Check) -> str | None:
    """Return why a failing last run need not be the agent's fault."""
    if any(admits_failure(text) for text in course.texts_after(last.number)):
        return "it says so"
    first = next((m.number for m in course.code_mutations()), None)
    if first is None or first > last.number:
        claimed = any(claims_done(text) for text in course.texts_after(last.number))
        return None if claimed else "nothing was changed before it"
    if failed_before_changes(course, last):
        return "it failed in the same way before the first change"
    return None


RULE: Final = CourseRule(_NAME, "the agent stopped while the last test run was failing", _find)
