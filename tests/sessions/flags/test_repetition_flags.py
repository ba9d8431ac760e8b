"""Flags of a long run: repeated-tool-failure, failure-streak, looping, churn, stalled."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tests.sessions.story import FAILING, Story

from fairtrial.model.session import Operation, ResultStatus, SessionState

CLEAN: list[Any] = []
FAIL = ResultStatus.FAIL


def open_story() -> Story:
    return Story(SessionState.ENDED_BY_LIMIT).prompt("Fix it.")


class TestRepeatedToolFailure:
    NAME = "repeated-tool-failure"

    def test_the_same_file(self) -> None:
        story = open_story()
        for text in "abc":
            story.edit("calc.py", text, "x", status=FAIL, text="no such text")
        (flag,) = story.flags(self.NAME)
        assert (flag.level, flag.summary) == ("warn", "Edit failed 3 times in a row")
        assert flag.evidence == (2, 3, 4, 5, 6, 7)
        assert flag.detail == {"times": 3, "tool": "Edit"}

    def test_twice_is_not_enough(self) -> None:
        story = open_story()
        for text in "ab":
            story.edit("calc.py", text, "x", status=FAIL)
        assert story.flags(self.NAME) == CLEAN

    def test_other_files(self) -> None:
        story = open_story()
        for path in ("a.py", "b.py", "c.py"):
            story.edit(path, "a", "x", status=FAIL)
        assert story.flags(self.NAME) == CLEAN

    def test_a_success_in_between(self) -> None:
        story = open_story()
        for status in (FAIL, FAIL, ResultStatus.OK, FAIL):
            story.edit("calc.py", "a", "x", status=status)
        assert story.flags(self.NAME) == CLEAN

    def test_another_tool_in_between_does_not_matter(self) -> None:
        story = open_story()
        for text in "abc":
            story.edit("calc.py", text, "x", status=FAIL).read("calc.py", "…")
        assert len(story.flags(self.NAME)) == 1

    def test_refusals_are_passed_over(self) -> None:
        story = open_story()
        for status in (FAIL, FAIL, ResultStatus.DENIED, FAIL):
            story.edit("calc.py", "a", "x", status=status)
        assert len(story.flags(self.NAME)) == 1
        story = open_story()
        for _ in range(3):
            story.edit("calc.py", "a", "x", status=ResultStatus.DENIED)
        assert story.flags(self.NAME) == CLEAN

    def test_similar_commands(self) -> None:
        story = open_story()
        for command in ("pytset -q", "pytset -q x.py", "pytset -q x.py -x"):
            story.shell(command, "pytset: command not found", 127)
        (flag,) = story.flags(self.NAME)
        assert flag.summary == "`pytset -q` failed 3 times in a row"

    def test_commands_that_only_share_the_folder(self) -> None:
        story = open_story()
        for command in ("ls x", "git push", "make y"):
            story.shell(f"cd /home/dev/app && {command}", f"{command}?", 2)
        assert story.flags(self.NAME) == CLEAN

    def test_one_program_with_one_error(self) -> None:
        story = open_story()
        for command in ("git push", "git push --force-with-lease origin HEAD", "git push -u a b c"):
            story.shell(command, "fatal: no remote, took 12 ms", 128)
        assert len(story.flags(self.NAME)) == 1

    def test_tests_are_tried_again_after_a_change(self) -> None:
        story = open_story()
        for line in "abc":
            story.shell("pytest", FAILING, 1).edit("calc.py", line, f"{line}{line}{line}")
        assert story.flags(self.NAME) == CLEAN

    def test_tests_that_fail_without_a_change(self) -> None:
        story = open_story()
        for _ in range(3):
            story.shell("pytest", FAILING, 1)
        assert len(story.flags(self.NAME)) == 1

    def test_a_search_that_finds_nothing_does_not_fail(self) -> None:
        story = open_story()
        for word in "abc":
            story.shell(f"grep -rn {word} .", "", 1)
        assert story.flags() == story.flags("ended-by-limit")

    def test_threads_are_told_apart(self) -> None:
        story = open_story()
        for thread in ("main", "agent-1", "agent-2"):
            story.edit("calc.py", "a", "x", status=FAIL, thread=thread)
        assert story.flags(self.NAME) == CLEAN


class TestFailureStreak:
    NAME = "failure-streak"

    def streak(self, story: Story, times: int) -> Story:
        for number in range(times):
            story.read(f"{number}.py", "no such file", FAIL)
        return story

    def test_five_in_a_row(self) -> None:
        (flag,) = self.streak(open_story(), 5).flags(self.NAME)
        assert (flag.level, flag.summary) == ("warn", "5 results in a row failed")
        assert flag.evidence == (3, 5, 7, 9, 11)

    def test_four_are_not_enough(self) -> None:
        assert self.streak(open_story(), 4).flags(self.NAME) == CLEAN

    def test_a_success_in_between(self) -> None:
        story = self.streak(open_story(), 4).shell("ls")
        assert self.streak(story, 4).flags(self.NAME) == CLEAN

    @pytest.mark.parametrize("status", [ResultStatus.DENIED, ResultStatus.INTERRUPTED])
    def test_refusals_neither_count_nor_end_it(self, status: ResultStatus) -> None:
        story = self.streak(open_story(), 4).shell("rm x", "", None, status=status)
        assert story.flags(self.NAME) == CLEAN
        assert len(self.streak(story, 1).flags(self.NAME)) == 1

    def test_calls_at_once_are_one_decision(self) -> None:
        story = open_story()
        calls = [story.call("Read", Operation.READ, {"n": n}) for n in range(6)]
        for call in calls:
            story.result(call, FAIL)
        assert story.flags(self.NAME) == CLEAN

    def test_a_call_that_was_dropped_did_not_fail(self) -> None:
        story = self.streak(open_story(), 4)
        story.read("x", "<tool_use_error>Sibling tool call errored</tool_use_error>", FAIL)
        assert story.flags(self.NAME) == CLEAN


class TestLooping:
    NAME = "looping"

    def test_a_cycle_of_two_calls(self) -> None:
        story = open_story()
        for number in range(4):
            story.shell("git status", f"clean, took {number} ms").shell("grep -n add a.py", "1:add")
        (flag,) = story.flags(self.NAME)
        assert flag.summary == "the same 2 calls 4 times, with the same result"
        assert flag.detail == {"cycle": 2, "times": 4}
        assert flag.evidence == (2, 4, 6, 8, 10, 12, 14, 16)

    def test_three_times_are_not_enough(self) -> None:
        story = open_story()
        for _ in range(3):
            story.shell("git status", "clean").shell("grep -n add a.py", "1:add")
        assert story.flags(self.NAME) == CLEAN

    def test_other_results(self) -> None:
        story = open_story()
        for number in range(6):
            story.shell("git status", f"{'x' * number}")
        assert story.flags(self.NAME) == CLEAN

    def test_a_change_in_between(self) -> None:
        story = open_story()
        for number in range(6):
            story.shell("cat a.log", "error").edit("calc.py", f"a{number}", f"b{number}")
        assert story.flags(self.NAME) == CLEAN

    @pytest.mark.parametrize(
        "command", ["sleep 5; cat a.log", "curl -s localhost", "gh run view 1"]
    )
    def test_waiting_is_no_loop(self, command: str) -> None:
        story = open_story()
        for _ in range(15):
            story.shell(command, "pending")
        assert story.flags() == story.flags("ended-by-limit")

    def test_to_do_lists_are_passed_over(self) -> None:
        story = open_story()
        for _ in range(6):
            story.result(story.call("TodoWrite", Operation.TODO, {"todos": []}), text="ok")
        assert story.flags(self.NAME) == CLEAN

    def test_one_flag_a_loop(self) -> None:
        story = open_story()
        for word in "ab":
            for _ in range(5):
                story.shell(f"cat {word}", word)
        assert [flag.detail["times"] for flag in story.flags(self.NAME)] == [5, 5]


class TestChurn:
    NAME = "churn"

    def rewrite(self, story: Story, times: int, *, fail: bool = True, path: str = "a.py") -> Story:
        story.edit(path, "value = old", "value = 0")
        for number in range(times):
            story.edit(path, f"value = {number}", f"value = {number + 1}")
            if fail:
                story.shell("pytest", FAILING, 1)
        return story

    def test_own_lines_are_thrown_away_again_and_again(self) -> None:
        (flag,) = self.rewrite(open_story(), 4).flags(self.NAME)
        assert flag.level == "warn"
        assert flag.summary == "a.py: 4 edits threw away 4 of 5 own lines"
        assert flag.detail == {"file": "a.py", "added": 5, "lost": 4, "failed": 4}

    def test_three_times_are_not_enough(self) -> None:
        assert self.rewrite(open_story(), 3).flags(self.NAME) == CLEAN

    def test_nothing_failed(self) -> None:
        assert self.rewrite(open_story(), 4, fail=False).levels(self.NAME) == ["info"]

    def test_most_lines_stay(self) -> None:
        story = open_story().edit("a.py", "", "\n".join(f"line {n}" for n in range(20)))
        assert self.rewrite(story, 5).flags(self.NAME) == CLEAN

    def test_lines_of_others_do_not_count(self) -> None:
        story = open_story()
        for number in range(6):
            story.edit("a.py", f"theirs {number}", f"mine {number}")
        assert story.flags(self.NAME) == CLEAN

    def test_moved_and_trivial_lines_do_not_count(self) -> None:
        story = open_story().edit("a.py", "", "value = 1\n)")
        for _ in range(5):
            story.edit("a.py", "value = 1\n)", "value = 1\n}").edit("a.py", "}", ")")
        assert story.flags(self.NAME) == CLEAN

    def test_documents_do_not_count(self) -> None:
        assert self.rewrite(open_story(), 5, path="PLAN.md").flags(self.NAME) == CLEAN


class TestStalled:
    NAME = "stalled"

    def hanging(self) -> Story:
        story = Story(SessionState.OPEN).prompt("Serve it.")
        story.call("Bash", Operation.SHELL, {}, command="python -m http.server")
        return story

    def test_a_call_hangs(self) -> None:
        (flag,) = self.hanging().flags(self.NAME, timedelta(minutes=11))
        assert (flag.level, flag.evidence) == ("warn", (2,))
        assert flag.summary == "nothing came for ten minutes; Bash was pending"

    def test_the_model_does_not_answer(self) -> None:
        (flag,) = Story(SessionState.OPEN).prompt("Hi.").flags(self.NAME, timedelta(hours=1))
        assert "the model's answer was pending" in flag.summary

    def test_it_may_still_be_at_work(self) -> None:
        assert self.hanging().flags(self.NAME, timedelta(minutes=9)) == CLEAN

    def test_it_has_ended(self) -> None:
        story = self.hanging()
        story.state = SessionState.INTERRUPTED
        assert story.flags(self.NAME, timedelta(days=1)) == CLEAN

    def test_trouble_with_the_service_is_no_stall(self) -> None:
        story = Story(SessionState.OPEN).prompt("Hi.").trouble(final=False)
        assert [flag.name for flag in story.flags(later=timedelta(days=1))] == ["api-error"]

    def idle(self, times: int) -> Story:
        story = open_story().shell("git status", "clean").shell("git log", "one").read("a.py", "x")
        for number in range(times):
            call = ("git status", "git log", "git status")[number % 3]
            story.shell(call, "clean" if "status" in call else "one")
        return story

    def test_twelve_calls_that_tell_nothing_new(self) -> None:
        (flag,) = self.idle(12).flags(self.NAME)
        assert flag.summary == "12 calls in a row changed nothing and told nothing new"

    def test_eleven_are_not_enough(self) -> None:
        assert self.idle(11).flags(self.NAME) == CLEAN

    def test_news_end_it(self) -> None:
        story = self.idle(8).shell("git status", "dirty")
        for _ in range(8):
            story.shell("git log", "one")
        assert story.flags(self.NAME) == CLEAN

    def test_a_change_ends_it(self) -> None:
        story = self.idle(8).edit("a.py", "x", "y")
        for _ in range(8):
            story.shell("git log", "one")
        assert story.flags(self.NAME) == CLEAN

    def test_a_command_took_long(self) -> None:
        (flag,) = open_story().shell("make all", duration_s=1260.0).flags(self.NAME)
        assert (flag.level, flag.summary) == ("info", "one command took 21 minutes")
