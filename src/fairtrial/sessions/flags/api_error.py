"""`api-error`: the model's service failed and a turn ended with it.

A session has it when a turn ended with an error of the model's service, or when such an error is
the last thing the session tells of. Errors after which the agent tried again and got on do not
count. Level `info`: it is trouble with infrastructure, not a failure of the agent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fairtrial.model.flag import Flag, FlagLevel
from fairtrial.model.session import ApiTrouble, SessionState, TurnEndReason, Usage
from fairtrial.sessions.course import Course
from fairtrial.sessions.flags.rule import CourseRule

_NAME: Final = "api-error"


def _find(course: Course) -> Iterator[Flag]:
    numbers = [trouble.number for trouble in course.troubles if trouble.final]
    numbers += [end.number for end in course.ends if end.reason is TurnEndReason.API_ERROR]
    last = next((event for event in reversed(course.events) if not isinstance(event, Usage)), None)
    if isinstance(last, ApiTrouble):
        numbers.append(last.number)
    if not numbers and course.session.state is not SessionState.API_ERROR:
        return
    trouble = course.troubles[-1] if course.troubles else None
    status = f" ({trouble.status})" if trouble is not None and trouble.status else ""
    yield Flag(
        _NAME,
        FlagLevel.INFO,
        f"the model's service failed{status}",
        tuple(sorted(set(numbers))),
        {} if trouble is None or trouble.status is None else {"status": trouble.status},
    )


RULE: Final = CourseRule(_NAME, "the model's service failed and a turn ended with it", _find)
