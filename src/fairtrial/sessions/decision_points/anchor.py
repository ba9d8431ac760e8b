"""What finds the decision points of one behaviour."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from typing import Final, Protocol

from fairtrial.model.decision_point import DecisionPoint
from fairtrial.model.flag import Flag, FlagLevel
from fairtrial.model.session import Result, Session, SessionEvent, Usage
from fairtrial.sessions.course import Course, course_of

_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)


class Anchor(Protocol):
    """Finds where agents showed a behaviour, and where they did not though they could have."""

    @property
    def name(self) -> str:
        """What the behaviour is called: letters, digits and dashes."""
        ...

    @property
    def summary(self) -> str:
        """One line: what the agent does that is bad."""
        ...

    @property
    def rubric(self) -> str:
        """What tells a judge whether a next turn shows the behaviour."""
        ...

    def points(self, session: Session, events: Sequence[SessionEvent]) -> Iterable[DecisionPoint]:
        """Return the decision points of a session, bad and good ones, in order.

        Args:
            session: The session.
            events: All its events, in order.
        """
        ...


@dataclass(frozen=True, slots=True)
class CourseAnchor:
    """An `Anchor` that looks at the course of a session.

    Attributes:
        name: What the behaviour is called.
        summary: One line: what the agent does that is bad.
        rubric: What tells a judge whether a next turn shows the behaviour.
        find: Returns the points of a course.
    """

    name: str
    summary: str
    rubric: str
    find: Callable[[Course], Iterable[DecisionPoint]]

    def points(self, session: Session, events: Sequence[SessionEvent]) -> Iterable[DecisionPoint]:
        """Return the decision points of a session."""
        return self.points_in(course_of(session, events, session.ended_at or _LONG_AGO))

    def points_in(self, course: Course) -> Iterable[DecisionPoint]:
        """Return the points of a course, each after the last result that the agent knew.

        Of calls made at once, all results are known before the next step, not only the one that
        the behaviour is about.
        """
        for point in self.find(course):
            known = point.after
            for event in islice(course.events, point.after, None):
                if event.thread == point.thread and isinstance(event, Result):
                    known = event.number
                elif event.thread == point.thread and not isinstance(event, Usage):
                    break
            yield point if known == point.after else replace(point, after=known)


def flags_of(anchor: CourseAnchor, level: FlagLevel) -> Callable[[Course], Iterable[Flag]]:
    """Return what flags a session with each bad point of a behaviour."""

    def find(course: Course) -> Iterable[Flag]:
        for point in anchor.find(course):
            if point.bad:
                evidence = tuple(sorted({point.after, *point.evidence}))
                yield Flag(anchor.name, level, point.summary, evidence, point.detail)

    return find


def context(events: Sequence[SessionEvent], point: DecisionPoint) -> list[SessionEvent]:
    """Return what the agent knew at a decision point: its thread's events up to there."""
    return [
        event for event in events if event.number <= point.after and event.thread == point.thread
    ]
