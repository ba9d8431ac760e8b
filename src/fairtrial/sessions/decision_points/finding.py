"""Letting anchors look at a session, and holding what the user's find against the session."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Final

from fairtrial.functions.blame import blame
from fairtrial.model.decision_point import DecisionPoint
from fairtrial.model.session import Session, SessionEvent, Usage
from fairtrial.sessions.course import course_of
from fairtrial.sessions.decision_points.anchor import Anchor, CourseAnchor

_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class AnchorFailure:
    """An anchor failed at a session, or found what cannot be.

    Attributes:
        anchor: Its name.
        session: Id of the session.
        why: What happened, and where in the user's module.
    """

    anchor: str
    session: str
    why: str


def points_of(
    anchors: Sequence[Anchor], session: Session, events: Sequence[SessionEvent]
) -> tuple[list[DecisionPoint], list[AnchorFailure]]:
    """Return the decision points of a session in order, and which anchors failed.

    Args:
        anchors: What looks at it.
        session: The session.
        events: All its events, in order.
    """
    found: list[DecisionPoint] = []
    failures: list[AnchorFailure] = []
    course = None
    for anchor in anchors:
        if isinstance(anchor, CourseAnchor):
            course = course or course_of(session, events, session.ended_at or _LONG_AGO)
            found += anchor.points_in(course)
            continue
        try:
            found += list(_checked(anchor, session, events))
        except (Exception, SystemExit) as error:  # noqa: BLE001  # a user's may fail in any way
            why = str(error) if isinstance(error, _NonsenseError) else blame(error)
            failures.append(AnchorFailure(anchor.name, session.id, why))
    return sorted(found, key=lambda point: point.after), failures


def choice(events: Sequence[SessionEvent], point: DecisionPoint) -> list[SessionEvent]:
    """Return what the agent did at a decision point: up to the last event that shows it.

    Where no event after the point is named, the next one of the thread.
    """
    end = max(point.evidence, default=0)
    if end > point.after:
        return [event for event in events[point.after : end] if event.thread == point.thread]
    after = (e for e in islice(events, point.after, None) if e.thread == point.thread)
    following = next((event for event in after if not isinstance(event, Usage)), None)
    return [] if following is None else [following]


class _NonsenseError(Exception):
    """What an anchor yields is no decision point of the session."""


def _checked(
    anchor: Anchor, session: Session, events: Sequence[SessionEvent]
) -> Iterator[DecisionPoint]:
    found: Any = anchor.points(session, events)
    if not hasattr(found, "__iter__"):
        raise _NonsenseError(f"points() returns {type(found).__name__}, nothing to go through")
    threads = {event.thread for event in events}
    for count, point in enumerate(found, 1):
        if count > len(events):
            raise _NonsenseError("points() yields more decision points than there are events")
        wrong = _unlike(point, anchor.name) or _nowhere(point, len(events), threads)
        if wrong is not None:
            raise _NonsenseError(wrong)
        yield point


def _unlike(point: Any, behavior: str) -> str | None:
    """Return why something is no decision point of a behaviour; None when it is one."""
    if not isinstance(point, DecisionPoint):
        return f"points() yields {type(point).__name__}, not fairtrial's DecisionPoint"
    if point.behavior != behavior:
        return f"a point's behavior is {point.behavior!r}, not {behavior!r}"
    given: Any = (point.bad, point.summary, point.detail)
    if tuple(map(type, given)) != (bool, str, dict):
        return "a point's bad must be True or False, its summary a text, its detail a dict"
    try:
        json.dumps((point.summary, point.detail), allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        return f"a point's summary or detail cannot be written as JSON: {error}"
    return None


def _nowhere(point: DecisionPoint, last: int, threads: set[str]) -> str | None:
    """Return why a decision point is not in its session; None when it is."""
    if type(point.after) is not int or not 0 <= point.after <= last:
        return f"a point's after is {point.after!r}; the events are numbered from 1 to {last}"
    evidence: Any = point.evidence
    if not isinstance(evidence, tuple) or not all(
        type(number) is int and 1 <= number <= last for number in evidence
    ):
        return f"a point's evidence must be a tuple of numbers of events, from 1 to {last}"
    if point.thread not in threads:
        return f"a point's thread is {point.thread!r}; there is no such one"
    return None
