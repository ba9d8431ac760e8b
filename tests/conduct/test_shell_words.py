from __future__ import annotations

import time

import pytest

from fairtrial.conduct.shell_words import LONGEST_COMMAND, simple_commands


def words(text: str) -> list[tuple[str, ...]]:
    return [command.words for command in simple_commands(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pytest -q", [("pytest", "-q")]),
        ("cd a && npm test", [("cd", "a"), ("npm", "test")]),
        ("a; b\nc | d & e", [("a",), ("b",), ("c",), ("d",), ("e",)]),
        ("A=1 B='x y' pytest", [("pytest",)]),
        ("echo 'a; b' \"c && d\" e\\ f", [("echo", "a; b", "c && d", "e f")]),
        ("# a comment\npytest # another", [("pytest",)]),
        ("if pytest; then echo ok; fi", [("pytest",), ("echo", "ok")]),
        ("(cd a; make test) || true", [("cd", "a"), ("make", "test"), ("true",)]),
        ("echo $(ls | head) `pwd`", [("echo", "$(ls | head)", "`pwd`")]),
        ("bash -lc 'cd a && pytest -q'", [("cd", "a"), ("pytest", "-q")]),
        ("bash script.sh", [("bash", "script.sh")]),
        ("cat <<'EOF' > a.py\nx && y\nEOF\npytest", [("cat",), ("pytest",)]),
        ("pytest 2>&1 >/dev/null &> log", [("pytest",)]),
        ("", []),
    ],
)
def test_commands_are_told_apart(text: str, expected: list[tuple[str, ...]]) -> None:
    assert words(text) == expected


def test_what_output_is_sent_to_and_what_is_fed() -> None:
    first, second = simple_commands("echo a > b.txt 2>/dev/null; python - <<EOF\nopen('x')\nEOF")
    assert first.writes == ("b.txt", "/dev/null")
    assert second.heredoc == "open('x')"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("pytest", False),
        ("cd a && pytest", False),
        ("pytest && echo ok", False),
        ("pytest || exit 1", False),
        ("set -o pipefail; pytest | tee log", False),
        ("set -e; pytest; echo ok", False),
        ("pytest | tail -3", True),
        ("pytest || true", True),
        ("pytest; echo done", True),
        ("pytest &", True),
        ("if pytest; then echo ok; fi", True),
        ("(pytest) || true", True),
        ("! pytest", True),
        ("bash -c 'pytest | tail'", True),
        ("bash -c pytest | tail", True),
    ],
)
def test_whose_exit_code_is_hidden(text: str, *, masked: bool) -> None:
    (command,) = [found for found in simple_commands(text) if found.program == "pytest"]
    assert command.masked is masked


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('pytest; echo "exit: $?"', True),
        ("pytest | tail -3; echo ${PIPESTATUS[0]}", True),
        ("pytest | tail -3; echo $?", False),
        ("pytest; ls; echo $?", False),
        ("pytest; echo done", False),
    ],
)
def test_whose_exit_code_is_printed(text: str, *, shown: bool) -> None:
    (command,) = [found for found in simple_commands(text) if found.program == "pytest"]
    assert command.shows_code is shown


@pytest.mark.parametrize(
    "text",
    ["$((" * 4000, "'" * 3999, '"\\' * 4000, "`" * 4001, "<<A\n" * 2000, "(" * 8000, "a" * 10**6],
)
def test_a_hostile_command_is_read_in_no_time(text: str) -> None:
    started = time.process_time()
    found = simple_commands(text)
    assert time.process_time() - started < 1
    assert sum(len(word) for command in found for word in command.words) <= 2 * LONGEST_COMMAND or (
        len(found) == 1
    )
