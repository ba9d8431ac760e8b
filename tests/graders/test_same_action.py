"""Whether a turn takes the action that the recorded one took."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from fairtrial.graders.registry import build_grader, grader_spec
from fairtrial.model.case import Case
from fairtrial.model.errors import GraderError
from fairtrial.model.grader import Grade, Subject
from fairtrial.model.json import Json
from fairtrial.ports import Surroundings
from fairtrial.workspaces.host.client import HostWorkspace


def turn(*uses: tuple[str, Json]) -> Json:
    return {"text": "…", "tool_uses": [{"name": n, "input": i} for n, i in uses], "stop": "end"}


def graded(expected: Json, output: Json, **options: Any) -> Grade:
    surroundings = Surroundings(Path(), os.environ, HostWorkspace(slots=1))
    grader = build_grader(grader_spec({"kind": "same_action", **options}, "t"), surroundings, "t")
    return asyncio.run(grader.grade(Subject(Case("c", "i", expected=expected), output, 1)))


TEST = turn(("Bash", {"command": "make test", "description": "Run the tests"}))


@pytest.mark.parametrize(
    ("output", "value", "reason"),
    [
        (TEST, 1.0, "with the same input"),
        (turn(("Bash", {"command": "make test  \n", "description": "Now"})), 1.0, "same input"),
        (turn(("Bash", {"command": "make lint"})), 0.0, "with another input: at /command"),
        (turn(("Edit", {"command": "make test"})), 0.0, "asks for 'Edit', the recorded turn for"),
        (turn(), 0.0, "ends without a tool, unlike the recorded turn: it asked for 'Bash'"),
        (turn(("Bash", {"command": "make test"}), ("Edit", {})), 1.0, "same input"),
        (turn(("Bash", "make test")), 0.0, "another input"),
    ],
)
def test_the_first_tool_and_its_input_decide(output: Json, value: float, reason: str) -> None:
    grade = graded(TEST, output)
    assert grade.value == value
    assert reason in (grade.reason or "")


def test_any_input_may_do() -> None:
    assert graded(TEST, turn(("Bash", {"command": "ls"})), inputs="any").value == 1.0


def test_fields_that_only_comment_can_be_named() -> None:
    other = turn(("Bash", {"command": "make test", "description": "x", "timeout": 5}))
    assert graded(TEST, other, ignore=["description", "timeout"]).value == 1.0
    assert graded(TEST, other, ignore=[]).value == 0.0


def test_to_end_is_an_action_too() -> None:
    assert graded(turn(), turn()).value == 1.0
    grade = graded(turn(), TEST)
    assert (grade.value, grade.reason) == (
        0.0,
        "asks for 'Bash', while the recorded turn ended without a tool",
    )


@pytest.mark.parametrize("bad", ["text", {}, {"tool_uses": "x"}, {"tool_uses": [{"input": 1}]}])
def test_what_is_no_turn_cannot_be_judged(bad: Json) -> None:
    with pytest.raises(GraderError):
        graded(TEST, bad)
    with pytest.raises(GraderError):
        graded(bad, TEST)
