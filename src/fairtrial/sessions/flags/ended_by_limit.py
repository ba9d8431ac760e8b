"""`ended-by-limit`: the turns, the budget or the time were used up before the agent was done.

A session has it when its state is `ended-by-limit`: its transcript says so, or it ended cleanly
while the agent was still at work. Level `info`: the limit may have been too tight.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fairtrial.model.flag import Flag, FlagLevel
from fairtrial.model.session import SessionState, TurnEndReason
from fairtrial.sessions.course import Course
from fairtrial.sessions.flags.rule import CourseRule

_NAME: Final = "ended-by-limit"


def _find(course: Course) -> Iterator[Flag]:
    if course.session.state is not SessionState.ENDED_BY_LIMIT:
        return
    ends = [end.number for end in course.ends if end.reason is TurnEndReason.LIMIT]
    last = [course.events[-1].number] if course.events else []
    calls = course.session.counts.calls
    done = "1 call" if calls == 1 else f"{calls} calls"
    summary = f"a limit was reached after {done}"
    yield Flag(_NAME, FlagLevel.INFO, summary, tuple(ends or last))


RULE: Final = CourseRule(
    _NAME, "the turns, the budget or the time were used up before the agent was done", _find
)
