"""What a rule of the program is: a function over the course of a session."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from fairtrial.model.flag import Flag
from fairtrial.model.session import Session, SessionEvent
from fairtrial.sessions.course import Course, course_of


class Tracing:
    """Makes the course of a session once for all rules that look at it one after the other."""

    def __init__(self) -> None:
        self._course: Course | None = None

    def course(self, session: Session, events: Sequence[SessionEvent], now: datetime) -> Course:
        """Return the course of a session; the same object while the same session is looked at."""
        known = self._course
        same = known is not None and known.session is session and known.events is events
        if known is None or not same or known.now != now:
            known = self._course = course_of(session, events, now)
        return known


@dataclass(frozen=True, slots=True)
class CourseRule:
    """A `FlagRule` that looks at the course of a session.

    Attributes:
        name: What its flags are called.
        summary: One line: when it flags a session.
        find: Returns the flags of a course.
        tracing: Shared by the rules that look at the same sessions; None makes a course alone.
    """

    name: str
    summary: str
    find: Callable[[Course], Iterable[Flag]]
    tracing: Tracing | None = None

    def check(
        self, session: Session, events: Sequence[SessionEvent], now: datetime
    ) -> Iterable[Flag]:
        """Return what is wrong with a session."""
        tracing = self.tracing or Tracing()
        return self.find(tracing.course(session, events, now))
