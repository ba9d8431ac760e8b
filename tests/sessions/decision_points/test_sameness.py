from __future__ import annotations

import dataclasses
from typing import Any

from tests.sessions.story import FAILING, Story

from fairtrial.sessions.decision_points.finding import points_of
from fairtrial.sessions.decision_points.registry import built_in_anchors
from fairtrial.sessions.decision_points.sameness import keys


def keys_of(story: Story, **changes: Any) -> list[bytes]:
    session = dataclasses.replace(story.session(), **changes)
    points, _ = points_of(built_in_anchors(), session, story.events)
    return keys(session, story.events, points)


def retried(text: str = FAILING, prompt: str = "Go.", command: str = "pytest") -> Story:
    story = Story().prompt(prompt)
    return story.shell(command, text, 1).shell(command, text, 1).say("It fails.")


def test_the_same_work_done_twice_is_the_same() -> None:
    (key,) = keys_of(retried())
    assert keys_of(retried(), id="ses_other") == [key]
    assert keys_of(retried(FAILING.replace("0.21s", "0.94s"))) == [key]


def test_the_folder_of_the_session_makes_no_difference() -> None:
    here = keys_of(retried("/home/dev/app/a.py failed", command="ls /home/dev/app"))
    there = retried("/srv/app/a.py failed", command="ls /srv/app")
    assert keys_of(there, cwd="/srv/app") == here


def test_what_was_asked_said_called_or_brought_makes_one() -> None:
    found = [
        keys_of(story)
        for story in (
            retried(),
            retried("FAILED test_b.py::test_other\n1 failed in 0.21s"),
            retried(prompt="Go on."),
            retried(command="pytest -x"),
        )
    ]
    assert len({key for (key,) in found}) == 4
    assert keys_of(retried(), agent="codex") != found[0]


def test_what_came_before_is_part_of_it() -> None:
    story = retried().shell("pytest", FAILING, 1)
    first, second = keys_of(story)
    assert first != second
    assert first == keys_of(retried())[0]
