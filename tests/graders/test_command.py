from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fairtrial.model.errors import UsageError
from fairtrial.model.score import Score

Ask = Callable[..., Score]


def shell(command: str, **options: Any) -> dict[str, Any]:
    return {"kind": "command", "command": command, **options}


def test_it_gets_the_whole_subject(ask: Ask, tmp_path: Path) -> None:
    score = ask(shell("cat > got.json"), "\ud800é", {"a": 1}, metrics={"steps": 3.0})
    assert score.value == 1.0
    assert json.loads((tmp_path / "got.json").read_text()) == {
        "output": "\ud800é",
        "expected": {"a": 1},
        "input": "question",
        "case_id": "c1",
        "metadata": {"repo": "r"},
        "metrics": {"steps": 3.0},
    }


@pytest.mark.parametrize(
    ("command", "value", "reason"),
    [
        ("exit 0", 1.0, None),
        ("echo 'no refund' >&2; exit 1", 0.0, "exit status 1: no refund"),
        ("exit 1", 0.0, "exit status 1"),
        ("echo boom >&2; exit 2", None, "no answer: exit status 2: boom"),
        ("kill -9 $$", None, "no answer: killed by SIGKILL"),
        ("true; nosuchprogram 2>/dev/null", None, "no answer: exit status 127"),
        ("echo 0.75", 0.75, None),
        ("echo 0.25; exit 1", 0.25, "0.25 is below 0.5"),
        ("echo 0.25; exit 3", None, "no answer: exit status 3: 0.25"),
        ("""echo '{"score": 0.2, "reason": "rude"}'""", 0.2, "rude"),
        ("""echo '{"score": null, "reason": "cannot tell"}'""", None, "cannot tell"),
        ("""echo '{"score": 1, "pass": true}'""", None, "answered with unknown 'pass' (known: "),
        ("""echo '{"reason": "x"}'""", None, "answered {'reason': 'x'} without a 'score'"),
        ("""echo '{"score": 1, "reason": 3}'""", None, "answered with a 'reason' that is no"),
        ("echo true", None, "answered true, not a number or {"),
        ("echo '\"0.5\"'", None, "answered '0.5', not a number or {"),
        ("echo NaN", None, "printed 'NaN', not a number or {"),
        ("echo 1e999", None, "answered inf, which is not finite"),
        ("echo -1e308", None, "answered -1e+308, which is beyond 1e+100"),
        ("echo 1 2", None, "printed '1 2', not a number or {"),
        ("printf '\\377'", None, "printed '\\\\xff', not a number or {"),
        ("echo '3 passed'", None, "printed '3 passed', not a number or {"),
        ("yes", None, "printed more than 1048576 bytes, not a number or {"),
    ],
)
def test_answers(ask: Ask, command: str, value: float | None, reason: str | None) -> None:
    score = ask(shell(command), "x")
    assert score.value == value
    assert (score.reason is None) == (reason is None)
    assert (score.reason or "").startswith(reason or "")


def test_the_exit_status_alone_may_answer(ask: Ask) -> None:
    assert ask(shell("echo 3 passed", answer="exit"), "x").value == 1.0
    score = ask(shell("echo 1 failed; exit 1", answer="exit"), "x")
    assert (score.value, score.reason) == (0.0, "exit status 1: 1 failed")


def test_too_slow_is_no_failure(ask: Ask) -> None:
    score = ask(shell("sleep 60", timeout=0.2), "x")
    assert (score.value, score.reason) == (None, "no answer within 0.2 s")


def test_what_cannot_be_sent_is_no_failure(ask: Ask) -> None:
    score = ask(shell("exit 0"), float("nan"))
    assert score.value is None
    assert (score.reason or "").startswith("the output cannot be sent as JSON")


def test_secrets_stay_behind_unless_they_are_passed(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "s")
    program = 'test "$SECRET_KEY$OTHER" = "$1" || exit 1'
    argv = ["/bin/sh", "-c", program, "sh"]
    assert ask({"kind": "command", "command": [*argv, ""]}, 1).passed
    spec = {"kind": "command", "command": [*argv, "ss"], "pass_env": ["SECRET_*"]}
    assert ask(spec | {"env": {"OTHER": "${SECRET_KEY}"}}, 1).passed
    with pytest.raises(UsageError, match="NOPE"):
        ask(spec | {"env": {"OTHER": "${NOPE}"}}, 1)


def test_paths_start_at_the_spec(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    program = tmp_path / "sub" / "grade.sh"
    program.write_text("#!/bin/sh\ntest -f grade.sh\n")
    program.chmod(0o755)
    assert ask({"kind": "command", "command": ["./grade.sh"], "cwd": "sub"}, 1).passed


def test_a_program_that_is_not_there_is_told_before_the_run(ask: Ask) -> None:
    for program in ("nosuchprogram", "./nosuch.sh"):
        with pytest.raises(UsageError, match=f"there is no program '{program}'"):
            ask({"kind": "command", "command": [program]}, 1)


@pytest.mark.parametrize("command", ["nosuch_prog --strict", "./absent.sh", "nosuch_prog | cat"])
def test_a_shell_text_whose_program_is_not_there_is_told_before_the_run(
    ask: Ask, command: str
) -> None:
    with pytest.raises(UsageError, match="the shell finds no program") as caught:
        ask({"kind": "command", "command": command}, 1)
    assert "spec" in str(caught.value.where)


def test_a_shell_text_that_may_go_on_is_left_alone(ask: Ask) -> None:
    assert ask({"kind": "command", "command": "nosuch_prog 2>/dev/null || true"}, 1).passed


def test_a_folder_that_is_not_there_is_told_before_the_run(ask: Ask) -> None:
    with pytest.raises(UsageError, match="there is no folder"):
        ask({"kind": "command", "command": [sys.executable], "cwd": "nosuch"}, 1)
