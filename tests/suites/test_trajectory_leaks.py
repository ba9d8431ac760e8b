"""Leaks in what an agent did: hidden lines, other commits, the network, and what is none."""

from __future__ import annotations

import pytest

from fairtrial.model.eval_task import Command, EvalTask, RepoStart, Verifier
from fairtrial.model.session import (
    MAIN,
    Call,
    Operation,
    Result,
    ResultStatus,
    SessionEvent,
)
from fairtrial.suites.trajectory_leaks import leaks_in

HIDDEN = b"""from shop import total
def test_total_of_an_empty_basket():
    assert total([]) == 0, 'nothing costs nothing'
    assert total([(3, 2)]) == 6, 'three times two'
    assert total([(3, 2), (1, 1)]) == 7
"""
TASK = EvalTask(
    "s",
    "t",
    "Do it",
    RepoStart("/r", "a" * 40),
    Verifier(Command("true", 1.0), hidden={"tests/test_total.py": HIDDEN}),
)


def call(number: int, command: str | None, operation: Operation = Operation.SHELL) -> Call:
    return Call(number, None, MAIN, f"c{number}", "Bash", operation, {"command": command}, command)


def result(number: int, of: int, text: str, status: ResultStatus = ResultStatus.OK) -> Result:
    return Result(number, None, MAIN, f"c{of}", status, None, text)


def of_command(command: str, status: ResultStatus = ResultStatus.OK) -> tuple[str, ...]:
    return leaks_in([call(1, command), result(2, 1, "", status)], TASK)


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("curl -s https://example.com/x", "the network (curl)"),
        ("cd x && timeout 5 wget example.com", "the network (wget)"),
        ("bash -c 'ssh host ls'", "the network (ssh)"),
        ("git log --all --oneline", "other commits (git log)"),
        ("git -C sub reflog", "other commits (git reflog)"),
        ("git fetch origin; git checkout main", "other commits (git fetch)"),
        ("git branch -a", "other commits (git branch)"),
        ("git fsck --lost-found", "other commits (git fsck)"),
    ],
)
def test_what_looks_beyond_is_told(command: str, told: str) -> None:
    assert of_command(command) == (f"event 1: used {told}",)
    assert of_command(command, ResultStatus.FAIL) == (f"event 1: tried to use {told}",)


@pytest.mark.parametrize(
    "command",
    [
        "curl -s http://localhost:8080/health",
        "curl 127.0.0.1:3000",
        "git log --oneline -5",
        "git show HEAD",
        "git branch",
        "git status && git diff",
        "grep -r curl .",
        "echo git fetch",
        "npm test",
    ],
)
def test_what_stays_within_is_none(command: str) -> None:
    assert of_command(command) == ()


def test_a_tool_of_the_web_is_told() -> None:
    assert leaks_in([call(1, None, Operation.WEB)], TASK) == (
        "event 1: tried to use the network (Bash)",
    )


def test_lines_of_a_hidden_file_are_recognised() -> None:
    events: list[SessionEvent] = [call(1, "cat x"), result(2, 1, HIDDEN.decode())]
    assert leaks_in(events, TASK) == ("event 2: saw the hidden file tests/test_total.py",)


def test_one_line_is_an_accident() -> None:
    line = HIDDEN.decode().split("\n")[2]
    assert leaks_in([call(1, "cat x"), result(2, 1, line)], TASK) == ()


def test_what_the_agent_wrote_itself_is_none() -> None:
    wrote = Call(1, None, MAIN, "c1", "Write", Operation.WRITE, {"content": HIDDEN.decode()})
    shown: list[SessionEvent] = [
        result(2, 1, "ok"),
        call(3, "cat x"),
        result(4, 3, HIDDEN.decode()),
    ]
    assert leaks_in([wrote, *shown], TASK) == ()


def test_each_leak_is_told_once() -> None:
    events = [call(1, "curl a.com"), call(2, "curl b.com")]
    assert leaks_in(events, TASK) == ("event 1: tried to use the network (curl)",)
