"""`interrupted`: the user stopped the agent in the middle of a turn.

A session has it when a turn ended with an interruption, or its state is `interrupted`. A command
that was cut off while the turn went on does not count. Level `info`: often, but not always, the
agent was on a wrong way.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fairtrial.model.flag import Flag, FlagLevel
from fairtrial.model.session import SessionState, TurnEndReason
from fairtrial.sessions.course import Course
from fairtrial.sessions.flags.rule import CourseRule

_NAME: Final = "interrupted"
_MOST_EVIDENCE: Final = 20


def _find(course: Course) -> Iterator[Flag]:
    ends = [end.number for end in course.ends if end.reason is TurnEndReason.INTERRUPTED]
    state = course.session.state is SessionState.INTERRUPTED
    if not ends and not state:
        return
    last = " at its end" if state else ""
    yield Flag(
        _NAME,
        FlagLevel.INFO,
        f"stopped in the middle of a turn{last}",
        tuple(ends)[:_MOST_EVIDENCE],
    )


RULE: Final = CourseRule(_NAME, "the user stopped the agent in the middle of a turn", _find)
