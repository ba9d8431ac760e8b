"""What anchors of the user yield is held against the session; what a point's choice is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from tests.sessions.story import FAILING, PASSING, Story

from fairtrial.model.decision_point import DecisionPoint
from fairtrial.model.session import Operation, ResultStatus, Session, SessionEvent
from fairtrial.sessions.decision_points.anchor import context
from fairtrial.sessions.decision_points.finding import choice, points_of
from fairtrial.sessions.decision_points.registry import OwnAnchor, built_in_anchors


def point(**more: Any) -> DecisionPoint:
    given: dict[str, Any] = {"behavior": "own", "after": 1, "summary": "it did", "bad": True}
    return DecisionPoint(**{**given, **more})


def own(points: Callable[[Session, Sequence[SessionEvent]], Any]) -> OwnAnchor:
    class Anchor:
        pass

    anchor: Any = Anchor()
    anchor.points = points
    return OwnAnchor("own", "it does", "Bad: it does.", anchor, "own.py")


def story() -> Story:
    return Story().prompt("Go.").shell("pytest", FAILING, 1).shell("pytest", FAILING, 1)


def looked(points: Callable[[Session, Sequence[SessionEvent]], Any]) -> tuple[list[Any], list[str]]:
    told = story()
    found, failures = points_of([own(points), *built_in_anchors()], told.session(), told.events)
    assert {one.session for one in failures} <= {told.session().id}
    return found, [one.why for one in failures]


def test_what_is_right_is_taken_in_order() -> None:
    found, failures = looked(lambda _session, _events: [point(after=4), point(after=0)])
    assert [(one.behavior, one.after) for one in found] == [
        ("own", 0),
        ("unchanged-retry", 3),
        ("own", 4),
    ]
    assert failures == []


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (None, "points() returns NoneType"),
        ([3], "points() yields int, not fairtrial's DecisionPoint"),
        ([point(behavior="other")], "a point's behavior is 'other', not 'own'"),
        ([point(bad="yes")], "a point's bad must be True or False"),
        ([point(summary=3)], "its summary a text"),
        ([point(detail=[1])], "its detail a dict"),
        ([point(detail={"a": object()})], "detail cannot be written as JSON"),
        ([point(detail={"a": float("nan")})], "detail cannot be written as JSON"),
        ([point(summary="\ud800")], "a point's summary or detail cannot be written as JSON"),
        ([point(after=6)], "a point's after is 6; the events are numbered from 1 to 5"),
        ([point(after=-1)], "a point's after is -1"),
        ([point(after=1.0)], "a point's after is 1.0"),
        ([point(evidence=[1])], "a point's evidence must be a tuple of numbers"),
        ([point(evidence=(0,))], "a point's evidence must be a tuple of numbers"),
        ([point(thread="x")], "a point's thread is 'x'; there is no such one"),
        ([point()] * 6, "more decision points than there are events"),
    ],
)
def test_nonsense_is_told_and_the_other_anchors_go_on(given: Any, why: str) -> None:
    found, failures = looked(lambda _session, _events: given)
    assert [one.behavior for one in found] == ["unchanged-retry"]
    assert len(failures) == 1
    assert why in failures[0]


def test_an_anchor_that_raises_is_told_and_the_others_go_on() -> None:
    def fails(_session: Session, _events: Sequence[SessionEvent]) -> Iterator[DecisionPoint]:
        yield point()
        raise KeyError("nothing of this name")

    found, failures = looked(fails)
    assert [one.behavior for one in found] == ["unchanged-retry"]
    assert "KeyError: 'nothing of this name'" in failures[0]
    assert "test_finding.py" in failures[0]

    def leaves(_session: Session, _events: Sequence[SessionEvent]) -> list[DecisionPoint]:
        raise SystemExit(3)

    assert "SystemExit: 3" in looked(leaves)[1][0]


def test_an_endless_anchor_ends() -> None:
    def endless(_session: Session, _events: Sequence[SessionEvent]) -> Iterator[DecisionPoint]:
        while True:
            yield point()

    assert "more decision points than there are events" in looked(endless)[1][0]


def test_calls_made_at_once_are_all_known_at_the_decision() -> None:
    told = Story().prompt("Go.")
    calls = [told.call("Bash", Operation.SHELL, {}, command=command) for command in ("x", "ls")]
    told.result(calls[0], ResultStatus.FAIL, "no x", exit_code=2)
    told.result(calls[1], text="a.py", exit_code=0).read("a.py")
    (found,), _ = points_of(built_in_anchors(), told.session(), told.events)
    assert (found.behavior, found.bad, found.after) == ("unchanged-retry", False, 5)
    assert [event.number for event in context(told.events, found)] == [1, 2, 3, 4, 5]
    assert [event.number for event in choice(told.events, found)] == [6]


def test_the_choice_goes_up_to_the_last_evidence() -> None:
    told = Story().prompt("Fix.").edit("a.py", "a", "b").shell("pytest", FAILING, 1)
    told.shell("git commit -am x").say("Done, all fixed.")
    points, _ = points_of(built_in_anchors(), told.session(), told.events)
    (bad,) = [one for one in points if one.bad]
    assert [event.number for event in choice(told.events, bad)] == [6, 7, 8]


def test_the_choice_without_evidence_is_the_next_step() -> None:
    told = Story().prompt("Go.").shell("pytest", PASSING)
    assert [event.number for event in choice(told.events, point())] == [2]
    assert choice(told.events, point(after=3)) == []
