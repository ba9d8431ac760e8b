"""Command tasks: what goes in, what comes out, and every way to end badly."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from fairtrial.model.errors import InfraError, UsageError
from fairtrial.model.task import Tokens
from fairtrial.testing.task import call_of

RunTask: TypeAlias = Callable[..., list[Any]]


def _shell(command: str, **options: Any) -> dict[str, Any]:
    return {"kind": "command", "command": command, **options}


def test_input_is_one_line_of_json_and_one_line_end_is_dropped(run_task: RunTask) -> None:
    inputs = ({"q": "naïve\n"}, "a", 1.5, None)
    results = run_task(_shell("cat; echo; echo"), *map(call_of, inputs))
    texts = [json.dumps(value, separators=(",", ":"), ensure_ascii=False) for value in inputs]
    assert [result.output for result in results] == [f"{text}\n\n" for text in texts]


def test_what_the_process_used_is_kept(run_task: RunTask) -> None:
    (result,) = run_task(_shell("echo warned >&2; cat"), call_of("x"))
    assert result.error is None
    assert result.process.exit_status == 0
    assert result.process.stderr_tail == "warned\n"
    assert result.process.max_rss_bytes > 0


def test_a_large_input_and_one_nobody_reads(run_task: RunTask) -> None:
    large = "x" * 5_000_000
    read, unread = run_task(_shell('read -r line; echo "${#line}"'), call_of(large), call_of("x"))
    assert (read.output, unread.output) == ("5000002", "3")
    (ignored,) = run_task(_shell("echo fine"), call_of(large))
    assert (ignored.output, ignored.error) == ("fine", None)


@pytest.mark.parametrize(
    ("command", "error", "output"),
    [
        ("echo half; echo first >&2; echo the last >&2; exit 3", "exit status 3: the last", "half"),
        ("echo half; exit 4", "exit status 4", "half"),
        ("echo half; kill -SEGV $$", "killed by SIGSEGV", "half"),
        ("echo half; sh -c 'kill -KILL $$'; exit $?", "exit status 137 (SIGKILL)", "half"),
        ("exit 255", "exit status 255", ""),
    ],
)
def test_a_bad_end_is_an_error_and_the_output_is_kept(
    run_task: RunTask, command: str, error: str, output: str
) -> None:
    (result,) = run_task(_shell(command), call_of("x"))
    assert result.error.startswith(error)
    assert result.output.strip() == output
    assert not result.timed_out


def test_over_the_time_limit_keeps_what_was_said(run_task: RunTask) -> None:
    (result,) = run_task(_shell("echo half; sleep 60"), call_of("x", limit_s=0.4))
    assert result.timed_out
    assert result.error == "over the time limit of 0.4 s"
    assert result.output == "half"


def test_too_much_output_names_the_option(run_task: RunTask) -> None:
    (result,) = run_task(_shell("yes", max_output=300_000), call_of("x"))
    assert result.error == "more than 300,000 bytes of output (option 'max_output')"
    assert len(result.output) <= 64 * 1024
    (fits,) = run_task(_shell("printf 12345", max_output=5), call_of("x"))
    assert (fits.output, fits.error) == ("12345", None)


def test_output_that_is_not_utf8_says_where(run_task: RunTask) -> None:
    (result,) = run_task(_shell(r"printf 'ab\377cd'"), call_of("x"))
    assert result.error == "stdout is not UTF-8: byte 0xff at offset 2"
    assert result.output == "ab\ufffdcd"


def test_the_call_stands_in_the_environment_and_nothing_else_leaks(run_task: RunTask) -> None:
    environ = {
        **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
        "API_KEY": "secret",
        "MODEL_NAME": "m1",
        "MODEL_SIZE": "7",
        "FAIRTRIAL_STORE": "postgresql://secret",
    }
    spec = _shell("env", env={"URL": "x/${API_KEY}/$${API_KEY}"}, pass_env=["MODEL_*", "ABSENT"])
    (result,) = run_task(spec, call_of("x", case_id="c 1"), environ=environ)
    seen = dict(line.split("=", 1) for line in result.output.splitlines())
    ours = {name: value for name, value in seen.items() if name.startswith("FAIRTRIAL")}
    assert ours == {
        "FAIRTRIAL_CASE_ID": "c 1",
        "FAIRTRIAL_CONDITION": "default",
        "FAIRTRIAL_ARM": "main",
        "FAIRTRIAL_TRIAL": "1",
        "FAIRTRIAL_ATTEMPT": "1",
        "FAIRTRIAL_SEED": "7",
    }
    assert seen["URL"] == "x/secret/${API_KEY}"
    assert (seen["MODEL_NAME"], seen["MODEL_SIZE"]) == ("m1", "7")
    assert "API_KEY" not in seen
    assert "ABSENT" not in seen


def test_a_case_may_have_any_name(run_task: RunTask) -> None:
    command = 'printf %s "$FAIRTRIAL_CASE_ID"'
    (result,) = run_task(_shell(command), call_of("x", case_id="a\0b \ud800 é\n="))
    assert result.output == "a\ufffdb ? é\n="


def test_relative_programs_and_folders_start_at_the_spec(run_task: RunTask, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    program = tmp_path / "sub" / "program"
    program.write_text("#!/bin/sh\npwd")
    program.chmod(0o755)
    for command in (["./program"], "./program", "  ./program | cat"):
        (result,) = run_task({"kind": "command", "command": command, "cwd": "sub"}, call_of("x"))
        assert result.output == str(program.parent)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"command": ["no-such-program"]}, "there is no program 'no-such-program'"),
        ({"command": ["./absent"]}, "a relative path starts at 'cwd'"),
        ({"command": ["python3 task.py"]}, "give each argument as its own text"),
        ({"command": ["./plain"]}, "chmod +x"),
        ({"command": ["./"]}, "is a folder, not a program"),
        ({"command": []}, "the command is empty"),
        ({"command": [""]}, "the command is empty"),
        ({"command": "  "}, "the command is empty"),
        ({"command": "a\0b"}, "NUL"),
        ({"command": "cat", "cwd": "absent"}, "there is no folder"),
        ({"command": "cat", "cwd": "plain"}, "is no folder"),
        ({"command": "cat", "env": {"KEY": "${ABSENT_KEY}"}}, "${ABSENT_KEY} is not set"),
        ({"command": "no-such-program --flag"}, "the shell finds no program 'no-such-program'"),
        ({"command": "./absent"}, "the shell finds no program './absent'"),
        ({"command": "./plain x"}, "the shell finds no program './plain'"),
    ],
)
def test_what_cannot_run_is_told_before_the_run(
    run_task: RunTask, tmp_path: Path, spec: dict[str, Any], message: str
) -> None:
    (tmp_path / "plain").write_text("text")
    with pytest.raises(UsageError) as caught:
        run_task({"kind": "command", **spec}, call_of("x"))
    assert message in str(caught.value)
    assert "spec" in str(caught.value.where)


@pytest.mark.parametrize(
    "command",
    ["no-such-program 2>/dev/null || echo fine", "X=1; echo fine", "if true; then echo fine; fi"],
)
def test_a_shell_command_that_may_go_on_is_left_alone(run_task: RunTask, command: str) -> None:
    (result,) = run_task(_shell(command), call_of("x"))
    assert result.output == "fine"


def test_a_workspace_that_cannot_run_programs_is_a_failed_setup(
    run_task: RunTask,
) -> None:
    huge = {f"V{n}": "x" * 100_000 for n in range(40)}  # more than a program may be given
    with pytest.raises(InfraError) as caught:
        run_task(_shell("cat", env=huge), call_of("x"))
    assert caught.value.kind == "setup"


def test_case_content_never_reaches_the_shell(run_task: RunTask, tmp_path: Path) -> None:
    (result,) = run_task(_shell("cat >/dev/null; echo done"), call_of("$(touch owned); `id`"))
    assert result.output == "done"
    assert list(tmp_path.iterdir()) == []


def test_an_envelope_carries_the_call_and_brings_everything(
    run_task: RunTask, tmp_path: Path
) -> None:
    (tmp_path / "task.py").write_text(
        "import json, sys\n"
        "told = json.load(sys.stdin)\n"
        "print(json.dumps({'output': told, 'cost_usd': 0.25, 'tokens': {'input': 3},"
        " 'metrics': {'steps': 2}, 'spans': [{'name': 's'}]}))\n"
    )
    spec = {"kind": "command", "command": [sys.executable, "task.py"], "envelope": True}
    (result,) = run_task(spec, call_of({"a": 1}, expected="hidden", limit_s=9))
    assert result.error is None
    assert result.output == {
        "input": {"a": 1},
        "case_id": "c1",
        "condition": "default",
        "arm": "main",
        "trial": 1,
        "attempt": 1,
        "seed": 7,
        "time_limit_s": 9,
        "metadata": {},
        "attempts": [],
    }
    assert (result.cost_usd, result.tokens) == (0.25, Tokens(input=3))
    assert (result.metrics, result.spans) == ({"steps": 2.0}, ({"name": "s"},))


@pytest.mark.parametrize(
    ("command", "error", "output"),
    [
        ("echo not json", "bad envelope on stdout: JSON is malformed", "not json\n"),
        ("echo not json; exit 3", "exit status 3", "not json\n"),
        ("""echo '{"error": "gave up", "output": 1}'""", "gave up", 1),
        ("""echo '{"error": "gave up"}'; exit 3""", "gave up (exit status 3)", None),
        ("""echo '{"output": 1}'; exit 3""", "exit status 3", 1),
    ],
)
def test_how_a_program_ended_and_what_it_said_go_together(
    run_task: RunTask, command: str, error: str, output: Any
) -> None:
    (result,) = run_task(_shell(command, envelope=True), call_of("x"))
    assert result.error.startswith(error)
    assert result.output == output
    assert result.process is not None
