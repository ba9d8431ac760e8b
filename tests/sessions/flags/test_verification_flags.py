"""Flags that ask what was verified: premature-completion, no-verification, stale-verification."""

from __future__ import annotations

from typing import Any

import pytest
from tests.sessions.story import FAILING, PASSING, Story

from fairtrial.model.session import MAIN, ChangeKind, Operation, ResultStatus, SessionState, Source

CLEAN: list[Any] = []


def fixing(said: str, state: SessionState = SessionState.COMPLETED) -> Story:
    story = Story(state).prompt("Fix add.").edit("calc.py", "return a - b", "return a * b + c")
    return story.shell("pytest -q", FAILING, 1).say(said)


class TestPrematureCompletion:
    NAME = "premature-completion"

    def test_the_last_test_run_failed(self) -> None:
        (flag,) = fixing("I changed the operator.").flags(self.NAME)
        assert flag.level == "warn"
        assert flag.summary == "stopped while pytest was failing"
        assert flag.evidence == (4, 5, 6)

    def test_the_agent_was_asking(self) -> None:
        assert fixing("Shall I go on?", SessionState.QUESTION).levels(self.NAME) == ["warn"]

    @pytest.mark.parametrize(
        "state", [SessionState.OPEN, SessionState.INTERRUPTED, SessionState.ENDED_BY_LIMIT]
    )
    def test_it_had_not_the_last_word(self, state: SessionState) -> None:
        assert fixing("", state).levels(self.NAME) == CLEAN

    def test_it_passes_in_the_end(self) -> None:
        story = fixing("Hm.").shell("pytest -q", PASSING).say("Fixed.")
        assert story.flags(self.NAME) == CLEAN

    def test_it_passes_in_a_pipe_in_the_end(self) -> None:
        story = fixing("Hm.").shell("pytest -q 2>&1 | tail -1", PASSING).say("Fixed.")
        assert story.flags() == CLEAN

    def test_a_failing_linter_is_no_failing_test(self) -> None:
        story = fixing("Hm.").shell("pytest", PASSING).shell("ruff check .", "Found 1 error.", 1)
        assert story.say("Fixed.").levels(self.NAME) == CLEAN

    def test_a_run_whose_end_is_unknown_changes_nothing(self) -> None:
        story = fixing("Hm.").shell("pytest | wc -l", "3").say("I changed it.")
        assert story.levels(self.NAME) == ["warn"]

    def test_it_admits_the_failure(self) -> None:
        (flag,) = fixing("One test is still failing.").flags(self.NAME)
        assert (flag.level, flag.summary) == (
            "info",
            "stopped while pytest was failing; it says so",
        )

    def test_it_admitted_it_in_an_earlier_turn(self) -> None:
        story = fixing("One test is still failing.").prompt("What is add?").say("A function.")
        assert story.levels(self.NAME) == ["info"]

    def test_it_failed_in_the_same_way_before(self) -> None:
        story = Story().prompt("Add mul.").shell("pytest -q", FAILING, 1)
        story.edit("calc.py", "", "def mul(a, b): return a * b")
        story.shell("pytest -q", FAILING.replace("0.21s", "0.40s"), 1).say("Added mul.")
        assert story.levels(self.NAME) == ["info"]
        assert story.flags("done-while-failing") == CLEAN

    def test_it_failed_in_another_way_before(self) -> None:
        story = Story().prompt("Add mul.").shell("pytest -q", FAILING, 1)
        story.edit("calc.py", "", "def mul(a, b): return a * b")
        story.shell("pytest -q", FAILING.replace("test_add", "test_mul"), 1).say("Added mul.")
        assert story.levels(self.NAME) == ["warn"]

    def test_nothing_was_changed(self) -> None:
        story = Story().prompt("Run the tests.").shell("pytest", FAILING, 1).say("See above.")
        assert story.levels(self.NAME) == ["info"]

    def test_nothing_was_changed_but_it_claims_so(self) -> None:
        story = Story().prompt("Fix it.").shell("pytest", FAILING, 1).say("Fixed.")
        assert story.levels(self.NAME) == ["warn"]


class TestNoVerification:
    NAME = "no-verification"

    def changed(self, path: str = "calc.py") -> Story:
        return Story().prompt("Fix add.").edit(path, "return a - b", "return a + b")

    def test_files_changed_and_nothing_ran(self) -> None:
        (flag,) = self.changed().say("I changed add.").flags()
        assert (flag.name, flag.level, flag.evidence) == (self.NAME, "warn", (3,))
        assert flag.summary == "1 file changed, and no test, type check, lint or build ran"
        assert flag.detail == {"files": ["calc.py"]}

    def test_a_shell_command_changed_one(self) -> None:
        story = Story().prompt("Fix it.").shell("sed -i 's/-/+/' calc.py").say("Changed.")
        assert story.levels(self.NAME) == ["warn"]

    @pytest.mark.parametrize(
        "command",
        ["pytest", "npm run lint", "mypy .", "make", "pytest | tail -1", "pytest || true"],
    )
    def test_something_ran(self, command: str) -> None:
        assert self.changed().shell(command, "…").say("Changed.").flags(self.NAME) == CLEAN

    def test_something_ran_and_failed(self) -> None:
        assert self.changed().shell("mypy .", "x", 1).say("Hm.").flags(self.NAME) == CLEAN

    def test_a_subagent_ran_it(self) -> None:
        story = self.changed().shell("pytest", PASSING, thread="agent-1").say("Changed.")
        assert story.flags(self.NAME) == CLEAN

    def test_an_editor_showed_its_diagnostics(self) -> None:
        story = self.changed()
        call = story.call("mcp__ide__getDiagnostics", Operation.MCP, {})
        assert story.result(call, text="[]").say("Changed.").flags(self.NAME) == CLEAN

    @pytest.mark.parametrize("path", ["README.md", "docs/a.py", "/srv/calc.py", "/home/dev/x/a.py"])
    def test_documents_and_files_elsewhere_do_not_count(self, path: str) -> None:
        assert self.changed(path).say("Changed.").flags(self.NAME) == CLEAN

    def test_comments_do_not_count(self) -> None:
        story = Story().prompt("Fix the comment.").edit("calc.py", "# adds\n", "# subtracts")
        assert story.say("Changed.").flags() == CLEAN

    def test_an_edit_that_failed_does_not_count(self) -> None:
        story = Story().prompt("Fix it.").edit("calc.py", "a", "b", status=ResultStatus.FAIL)
        assert story.say("Hm.").flags(self.NAME) == CLEAN

    def test_it_is_still_at_work(self) -> None:
        story = self.changed()
        story.state = SessionState.OPEN
        assert story.flags(self.NAME) == CLEAN

    def test_only_configuration_changed(self) -> None:
        assert self.changed("package.json").say("Changed.").levels(self.NAME) == ["info"]

    def test_one_could_not_start(self) -> None:
        story = self.changed().shell("pytest", "pytest: command not found", 127).say("Changed.")
        assert story.levels(self.NAME) == ["info"]
        assert story.levels("env-broken") == ["info"]

    def test_one_was_refused(self) -> None:
        story = self.changed().shell("pytest", "", None, status=ResultStatus.DENIED).say("Changed.")
        assert story.levels(self.NAME) == ["info"]

    def test_it_ran_what_it_changed(self) -> None:
        story = self.changed().shell("python calc.py", "5").say("Changed.")
        assert story.levels(self.NAME) == ["info"]

    def test_looking_at_it_is_not_running_it(self) -> None:
        story = self.changed().shell("cat calc.py | head", "5").say("Changed.")
        assert story.levels(self.NAME) == ["warn"]

    def test_a_subagent_of_which_nothing_is_known(self) -> None:
        story = self.changed()
        story.result(story.call("Task", Operation.AGENT, {"prompt": "Test it."}))
        assert story.say("Changed.").levels(self.NAME) == ["info"]


class TestStaleVerification:
    NAME = "stale-verification"

    def verified(self) -> Story:
        story = Story().prompt("Fix add.").edit("calc.py", "return a - b", "return a + b")
        return story.shell("pytest", PASSING)

    def test_code_changed_afterwards(self) -> None:
        story = self.verified().edit("calc.py", "a = 1", "a = 2").edit("calc.py", "b = 1", "b = 2")
        (flag,) = story.say("Changed.").flags()
        assert (flag.name, flag.level) == (self.NAME, "warn")
        assert flag.evidence == (5, 7, 9)

    def test_one_large_change(self) -> None:
        story = self.verified().edit("calc.py", "a = 1\nb = 2", "a = 2\nb = 3").say("Changed.")
        assert story.levels(self.NAME) == ["warn"]

    def test_one_small_change(self) -> None:
        story = self.verified().edit("calc.py", "a = 1", "a = 2").say("Changed.")
        assert story.levels(self.NAME) == ["info"]

    @pytest.mark.parametrize("path", ["tests/test_calc.py", "package.json", "README.md"])
    def test_other_files_do_not_count(self, path: str) -> None:
        story = self.verified().edit(path, "a = 1\nb = 1", "a = 2\nb = 2").say("Changed.")
        assert story.flags() == CLEAN

    def test_comments_do_not_count(self) -> None:
        story = self.verified().edit("calc.py", "# old", "# new\n\n// newer").say("Changed.")
        assert story.flags() == CLEAN

    def test_a_shell_command_does_not_count(self) -> None:
        assert self.verified().shell("rm old.py").say("Changed.").flags() == CLEAN

    def test_it_was_verified_again(self) -> None:
        story = self.verified().edit("calc.py", "a = 1\nc", "a = 2\nd").shell("ruff check .", "")
        assert story.say("Changed.").flags() == CLEAN

    def test_verifying_again_was_refused(self) -> None:
        story = self.verified().edit("calc.py", "a = 1\nc", "a = 2\nd")
        story.shell("pytest", "", None, status=ResultStatus.DENIED).say("Changed.")
        assert story.flags() == CLEAN


def test_a_background_run_counts_when_it_ends() -> None:
    story = Story().prompt("Fix add.").edit("calc.py", "a", "b")
    call = story.call("Bash", Operation.SHELL, {}, command="pytest")
    story.result(call, ResultStatus.RUNNING).say("Waiting.")
    story.result(call, ResultStatus.FAIL, FAILING, exit_code=1)
    story.prompt("The command ended.", Source.SYSTEM).say("I changed it.")
    assert story.levels("premature-completion") == ["warn"]
    assert [step.call.thread for step in story.course().steps] == [MAIN, MAIN]


def test_a_new_file_is_a_change() -> None:
    story = Story().prompt("Add b.").edit("b.py", "", "x = 1", kind=ChangeKind.ADD).say("Added.")
    assert [flag.name for flag in story.flags()] == ["no-verification"]
