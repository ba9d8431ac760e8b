"""Flags that tell of what a session met: refusals, the service, the user, limits, the machine."""

from __future__ import annotations

from typing import Any

import pytest
from tests.sessions.story import PASSING, Story

from fairtrial.model.session import ResultStatus, SessionState, Source, TurnEndReason

DENIED = ResultStatus.DENIED
CLEAN: list[Any] = []


def test_three_refusals() -> None:
    story = Story().prompt("Go.")
    for word in "ab":
        story.shell(f"rm {word}", "", None, status=DENIED)
    assert story.flags() == CLEAN
    (flag,) = story.shell("rm c", "", None, status=DENIED).flags()
    assert (flag.name, flag.level) == ("permission-blocked", "info")
    assert (flag.summary, flag.evidence) == ("3 calls were refused (Bash)", (3, 5, 7))


def test_a_turn_ends_with_an_error_of_the_service() -> None:
    story = Story(SessionState.API_ERROR).prompt("Go.").trouble(final=True, status=400)
    (flag,) = story.flags()
    assert (flag.name, flag.level, flag.detail) == ("api-error", "info", {"status": 400})


def test_an_error_that_was_got_over() -> None:
    story = Story().prompt("Go.").trouble(final=False).say("Here you are.")
    assert story.flags() == CLEAN


def test_an_error_that_nothing_follows() -> None:
    story = Story(SessionState.OPEN).prompt("Go.").trouble(final=False)
    assert [flag.name for flag in story.flags()] == ["api-error"]


def test_the_user_stopped_it() -> None:
    story = Story(SessionState.INTERRUPTED).prompt("Go.").end(TurnEndReason.INTERRUPTED)
    (flag,) = story.flags()
    assert (flag.name, flag.level, flag.evidence) == ("interrupted", "info", (2,))
    assert flag.summary == "stopped in the middle of a turn at its end"


def test_a_command_that_was_cut_off_is_no_interruption() -> None:
    story = Story().prompt("Go.").shell("sleep 99", "", -1, status=ResultStatus.INTERRUPTED)
    assert story.say("It was killed.").end().flags() == CLEAN


@pytest.mark.parametrize(
    "text",
    [
        "No, use the other file.",
        "That's wrong.",
        "that is not what I asked for",
        "Stop!",
        "Revert that please",
        "It still fails with the same error",
        "This doesn\u2019t work",
        "You broke the build",
        "Why did you delete it?",
    ],
)
def test_the_user_corrects_it(text: str) -> None:
    story = Story().prompt("Go.").say("Done it.").prompt(text).say("Sorry.")
    (flag,) = story.flags()
    assert (flag.name, flag.level, flag.evidence) == ("user-correction", "info", (3,))


@pytest.mark.parametrize(
    "text",
    [
        "No problem, go on.",
        "Now add mul.",
        "Great, thanks!",
        "Add a stop button.",
        "Does it still work with 3.11?",
        "Note that add takes two numbers.",
        "Nothing else.",
    ],
)
def test_the_user_goes_on(text: str) -> None:
    assert Story().prompt("Go.").say("I did.").prompt(text).say("Ok.").flags() == CLEAN


def test_only_people_correct_and_not_in_the_first_prompt() -> None:
    assert Story().prompt("No, this is wrong.").say("Ok.").flags() == CLEAN
    story = Story().prompt("Go.").say("I did.").prompt("That's wrong.", Source.SYSTEM).say("Ok.")
    assert story.flags() == CLEAN


def test_a_limit_was_reached() -> None:
    story = Story(SessionState.ENDED_BY_LIMIT).prompt("Go.").shell("ls")
    (flag,) = story.flags()
    assert (flag.name, flag.level, flag.evidence) == ("ended-by-limit", "info", (3,))
    assert flag.summary == "a limit was reached after 1 call"


class TestEnvBroken:
    NAME = "env-broken"

    def test_the_tests_could_not_start(self) -> None:
        story = Story().prompt("Test it.").shell("pytest", "pytest: not found", 127).say("Hm.")
        (flag,) = story.flags()
        assert (flag.name, flag.level, flag.evidence) == (self.NAME, "info", (3,))
        assert flag.summary == "no test could be run (pytest)"

    def test_another_way_was_found(self) -> None:
        story = Story().prompt("Test it.").shell("pytest", "pytest: not found", 127)
        assert story.shell("python -m pytest", PASSING).say("Good.").flags() == CLEAN

    def test_another_kind_is_no_other_way(self) -> None:
        story = Story().prompt("Test it.").shell("pytest", "pytest: not found", 127)
        assert story.shell("mypy .", "").say("Good.").levels(self.NAME) == ["info"]

    def test_other_programs_do_not_matter(self) -> None:
        story = Story().prompt("Go.").shell("foo", "foo: not found", 127).say("Hm.")
        assert story.flags() == CLEAN
