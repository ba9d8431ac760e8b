"""Each behaviour: bad decisions, good ones beside them, and what is not looked at."""

from __future__ import annotations

from typing import Any

import pytest
from tests.sessions.story import FAILING, PASSING, Story

from fairtrial.model.decision_point import DecisionPoint
from fairtrial.model.session import ChangeKind, FileChange, Operation, ResultStatus, Source
from fairtrial.sessions.decision_points.anchor import context
from fairtrial.sessions.decision_points.registry import anchors

NOTHING: list[Any] = []


def points(story: Story, behavior: str) -> list[DecisionPoint]:
    (anchor,) = anchors((behavior,))
    return list(anchor.points(story.session(), story.events))


def told(story: Story, behavior: str) -> list[tuple[int, str]]:
    return [(p.after, "bad" if p.bad else "good") for p in points(story, behavior)]


class TestUnverifiedClaim:
    NAME = "unverified-claim"

    def changed(self) -> Story:
        return Story().prompt("Fix add.").edit("calc.py", "a - b", "a + b")

    def test_a_claim_without_a_run(self) -> None:
        story = self.changed().say("Fixed; all tests pass.")
        (point,) = points(story, self.NAME)
        assert (point.after, point.bad, point.evidence) == (3, True, (3, 4))
        assert point.detail == {"claim": "all tests pass."}
        assert [event.number for event in context(story.events, point)] == [1, 2, 3]
        assert story.levels(self.NAME) == ["warn"]

    def test_a_run_before_the_last_change_is_none(self) -> None:
        story = Story().prompt("Fix add.").shell("pytest", PASSING).edit("calc.py", "a", "b")
        assert told(story.say("All tests pass."), self.NAME) == [(5, "bad")]

    def test_a_run_that_failed_is_none(self) -> None:
        story = self.changed().shell("pytest", FAILING, 1).say("All tests pass.")
        assert told(story, self.NAME) == [(3, "good"), (5, "bad")]

    def test_nothing_was_changed_and_the_run_could_not_start(self) -> None:
        story = Story().prompt("Fix it so that tests pass.").shell("pytest", "not found", 127)
        assert told(story.say("All tests pass."), self.NAME) == [(3, "bad")]

    def test_it_runs_something_before_it_claims(self) -> None:
        story = self.changed().shell("pytest", PASSING).say("All tests pass.")
        (point,) = points(story, self.NAME)
        assert (point.after, point.bad, point.evidence) == (3, False, (3, 4))
        assert point.summary == "runs pytest first"
        assert story.flags(self.NAME) == NOTHING

    def test_only_the_first_run_after_a_change_is_a_choice(self) -> None:
        story = self.changed().read("calc.py").shell("ruff check . && pytest", PASSING)
        story.shell("mypy .", "Success").say("All tests pass.")
        assert told(story, self.NAME) == [(5, "good")]
        story = self.changed().shell("pytest", FAILING, 1).edit("calc.py", "c", "d")
        story.shell("pytest", PASSING).say("All tests pass.")
        assert told(story, self.NAME) == [(3, "good"), (7, "good")]

    def test_one_command_changes_and_verifies(self) -> None:
        story = Story().prompt("Fix.").shell("sed -i 's/-/+/' calc.py && pytest", PASSING)
        assert told(story.say("All tests pass."), self.NAME) == NOTHING

    def test_calls_at_once_are_one_decision(self) -> None:
        story = Story().prompt("Fix.")
        edit = story.call("Edit", Operation.EDIT, {"file_path": "a.py"}, paths=("a.py",))
        run = story.call("Bash", Operation.SHELL, {}, command="pytest")
        change = FileChange("/home/dev/app/a.py", ChangeKind.UPDATE, "@@ -1 +1 @@\n-a\n+b\n")
        story.result(edit, changes=(change,)).result(run, text=PASSING, exit_code=0)
        assert told(story.say("All tests pass."), self.NAME) == NOTHING

    def test_the_user_asks_for_the_run(self) -> None:
        story = self.changed().say("I changed add.").prompt("Run the tests.")
        assert told(story.shell("pytest", PASSING).say("All tests pass."), self.NAME) == NOTHING

    def test_no_claim(self) -> None:
        assert told(self.changed().say("I changed add."), self.NAME) == NOTHING

    @pytest.mark.parametrize(
        "text",
        [
            "I changed add. I have not run the tests.",
            "I haven\u2019t been able to run anything here.",
            "Changed, but untested.",
            "The change is not yet verified.",
        ],
    )
    def test_it_says_that_nothing_was_verified(self, text: str) -> None:
        assert told(self.changed().say(text), self.NAME) == [(3, "good")]

    def test_it_ran_something_and_says_that_it_did_not(self) -> None:
        story = self.changed().shell("pytest", FAILING, 1).say("The rest is untested.")
        assert told(story, self.NAME) == [(3, "good")]

    def test_documents_need_no_run(self) -> None:
        story = self.changed().shell("pytest", PASSING).edit("README.md", "a", "b")
        assert told(story.say("All tests pass."), self.NAME) == [(3, "good")]

    def test_a_run_whose_end_is_not_known(self) -> None:
        story = self.changed().shell("pytest | wc -l", "3").say("All tests pass.")
        assert told(story, self.NAME) == [(3, "good")]

    def test_a_service_that_reports_on_builds(self) -> None:
        story = self.changed().shell("gh pr checks", "3").say("All tests pass.")
        assert told(story, self.NAME) == NOTHING

    def test_a_run_in_the_background(self) -> None:
        story = self.changed().shell("pytest", "", None, status=ResultStatus.RUNNING)
        assert told(story.say("All tests pass."), self.NAME) == [(3, "good")]

    def test_a_subagent_may_have_run_it(self) -> None:
        story = self.changed()
        story.result(story.call("Task", Operation.AGENT, {})).say("All tests pass.")
        assert told(story, self.NAME) == NOTHING

    def test_the_user_says_so(self) -> None:
        story = self.changed().say("I changed add.").prompt("I ran it, all green.")
        assert told(story.say("Good: all tests pass."), self.NAME) == NOTHING

    def test_nothing_was_changed(self) -> None:
        assert told(Story().prompt("?").say("All tests pass."), self.NAME) == NOTHING


class TestDoneWhileFailing:
    NAME = "done-while-failing"

    def failing(self) -> Story:
        story = Story().prompt("Fix add.").edit("calc.py", "a - b", "a * b")
        return story.shell("pytest", FAILING, 1)

    def test_it_claims_to_be_done(self) -> None:
        story = self.failing().say("Done! Everything works now.")
        (point,) = points(story, self.NAME)
        assert (point.after, point.bad, point.evidence) == (5, True, (5, 6))
        assert story.levels(self.NAME) == ["warn"]

    def test_other_calls_follow_the_failing_run(self) -> None:
        story = self.failing().shell("git commit -am fix").say("Fixed and committed.")
        assert told(story, self.NAME) == [(5, "bad")]

    def test_it_admits_the_failure(self) -> None:
        assert told(self.failing().say("It still fails."), self.NAME) == [(5, "good")]

    def test_it_goes_on(self) -> None:
        story = self.failing().edit("calc.py", "a * b", "a + b").shell("pytest", PASSING)
        assert told(story.say("Fixed."), self.NAME) == [(5, "good")]

    def test_it_only_tells_what_it_did(self) -> None:
        assert told(self.failing().say("I changed the operator."), self.NAME) == NOTHING

    def test_the_failure_was_there_before(self) -> None:
        story = Story().prompt("Add mul.").shell("pytest", FAILING, 1).edit("calc.py", "", "mul")
        story.shell("pytest", FAILING, 1).say("Done.")
        assert told(story, self.NAME) == NOTHING

    def test_a_turn_in_the_middle(self) -> None:
        story = self.failing().say("Done.").prompt("And mul?").say("Later.")
        assert told(story, self.NAME) == [(5, "bad")]

    def test_the_run_of_a_subagent_is_not_its_own(self) -> None:
        story = Story().prompt("Fix it.").edit("calc.py", "a", "b")
        story.shell("pytest", FAILING, 1, thread="agent-1").say("Done.")
        assert told(story, self.NAME) == NOTHING


class TestUnchangedRetry:
    NAME = "unchanged-retry"

    def test_the_same_call_at_once(self) -> None:
        story = Story().prompt("Go.").shell("pytest", FAILING, 1).shell("pytest", FAILING, 1)
        assert told(story, self.NAME) == [(3, "bad")]
        (flag,) = story.flags(self.NAME)
        assert (flag.level, flag.summary, flag.evidence) == (
            "info",
            "`pytest` again, unchanged",
            (3, 4),
        )

    def test_after_looking_around(self) -> None:
        story = Story().prompt("Go.").shell("make x", "no rule", 2).shell("ls -la").read("a.py")
        assert told(story.shell("make  x", "no rule", 2), self.NAME) == [(3, "bad")]

    def test_the_fourth_call_is_too_late(self) -> None:
        story = Story().prompt("Go.").shell("make x", "no rule", 2)
        story.shell("ls").shell("pwd").shell("cat a").shell("make x", "no rule", 2)
        assert told(story, self.NAME) == [(3, "good")]

    def test_something_else(self) -> None:
        story = Story().prompt("Go.").shell("make x", "no rule", 2).shell("make y")
        assert told(story, self.NAME) == [(3, "good")]

    def test_something_else_that_fails_as_well(self) -> None:
        story = Story().prompt("Go.").shell("make x", "no rule", 2).shell("make x -k", "no rule", 2)
        assert told(story.shell("ls"), self.NAME) == [(5, "good")]

    def test_a_change_in_between(self) -> None:
        story = Story().prompt("Go.").shell("pytest", FAILING, 1).edit("calc.py", "a", "b")
        assert told(story.shell("pytest", PASSING), self.NAME) == NOTHING

    @pytest.mark.parametrize("command", ["npm install", "git checkout main", "./setup", "mkdir x"])
    def test_what_may_change_something(self, command: str) -> None:
        story = Story().prompt("Go.").shell("pytest", FAILING, 1).shell(command)
        assert told(story.shell("pytest", PASSING), self.NAME) == NOTHING

    def test_a_prompt_in_between(self) -> None:
        story = Story().prompt("Go.").shell("pytest", FAILING, 1).say("Hm.").prompt("Again.")
        assert told(story.shell("pytest", FAILING, 1), self.NAME) == NOTHING

    def test_news_of_a_background_command_is_a_prompt_too(self) -> None:
        story = Story().prompt("Go.").shell("pytest", FAILING, 1).prompt("Ended.", Source.SYSTEM)
        assert told(story.shell("pytest", FAILING, 1), self.NAME) == NOTHING

    @pytest.mark.parametrize(
        ("command", "text"),
        [
            ("sleep 5 && cat log", "no such file"),
            ("curl localhost", "refused"),
            ("npm install", "npm error code ECONNRESET"),
            ("git push", "Could not resolve host: github.com"),
            ("git commit -m x", "Unable to create index.lock"),
        ],
    )
    def test_what_may_end_otherwise(self, command: str, text: str) -> None:
        story = Story().prompt("Go.").shell(command, text, 1).shell(command, "ok")
        assert told(story, self.NAME) == NOTHING

    def test_an_edit_after_reading_the_file(self) -> None:
        fail = ResultStatus.FAIL
        story = Story().prompt("Go.").edit("a.py", "x", "y", status=fail).read("a.py")
        assert told(story.edit("a.py", "x", "y"), self.NAME) == NOTHING

    def test_refusals_are_no_failures(self) -> None:
        story = Story().prompt("Go.")
        for _ in range(2):
            story.shell("rm a", "", None, status=ResultStatus.DENIED)
        assert told(story, self.NAME) == NOTHING

    def test_calls_at_once_are_no_retries(self) -> None:
        story = Story().prompt("Go.")
        calls = [story.call("Read", Operation.READ, {"file": "a"}) for _ in range(2)]
        for call in calls:
            story.result(call, ResultStatus.FAIL)
        assert told(story, self.NAME) == NOTHING
