"""`permission-blocked`: the agent was refused what it wanted to do three times or more.

A session has it when three or more calls, in any thread, were refused by the user, a rule or a
hook. Level `info`: it tells of the surroundings, not of a failure of the agent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fairtrial.model.flag import Flag, FlagLevel
from fairtrial.model.session import ResultStatus
from fairtrial.sessions.course import Course
from fairtrial.sessions.flags.rule import CourseRule

_NAME: Final = "permission-blocked"
_TIMES: Final = 3
_MOST_EVIDENCE: Final = 20


def _find(course: Course) -> Iterator[Flag]:
    refused = [step for step in course.steps if step.result.status is ResultStatus.DENIED]
    if len(refused) >= _TIMES:
        tools = ", ".join(dict.fromkeys(step.call.tool for step in refused))
        yield Flag(
            _NAME,
            FlagLevel.INFO,
            f"{len(refused)} calls were refused ({tools})",
            tuple(step.result.number for step in refused)[:_MOST_EVIDENCE],
            {"times": len(refused)},
        )


RULE: Final = CourseRule(
    _NAME, "the agent was refused what it wanted to do three times or more", _find
)
