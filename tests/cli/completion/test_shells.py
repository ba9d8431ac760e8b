"""The scripts in real shells."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import Command

from fairtrial.app.completion_scripts import SCRIPTS


@pytest.fixture
def environ(tmp_path: Path, folder: Path) -> dict[str, str]:
    """An environment where `fairtrial` is this one."""
    del folder
    program = tmp_path / "bin" / "fairtrial"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m fairtrial "$@"\n')
    program.chmod(0o755)
    return {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}", "TERM": "dumb"}


def shell(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"needs {name} on PATH")
    return found


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_script_is_printed_and_its_syntax_is_right(fairtrial: Command, name: str) -> None:
    done = fairtrial("completion", name)
    assert (done.code, done.out) == (0, SCRIPTS[name])
    flag = "--no-execute" if name == "fish" else "-n"
    checked = subprocess.run([shell(name), flag], input=done.out, text=True, check=False)
    assert checked.returncode == 0


@pytest.mark.parametrize(
    ("line", "replies"),
    [
        ("fairtrial sessions fl", ["flags "]),
        ("fairtrial sessions list --where is:fl", ["flagged"]),
        ('fairtrial sessions list --where "turns > 3 and is:fl', ["turns > 3 and is:flagged"]),
        ("fairtrial sessions export --to=j", ["jsonl "]),
        ("fairtrial nothing ", []),
    ],
)
def test_bash_asks_and_is_answered(environ: dict[str, str], line: str, replies: list[str]) -> None:
    ask = (
        'COMP_LINE="$1"; COMP_POINT=${#COMP_LINE}; COMP_WORDS=(fairtrial); _fairtrial; '
        "printf '%s\\n' \"${COMPREPLY[@]}\""
    )
    done = subprocess.run(
        [shell("bash"), "-c", SCRIPTS["bash"] + ask, "bash", line],
        capture_output=True,
        text=True,
        check=True,
        env=environ,
    )
    assert [one for one in done.stdout.split("\n") if one] == replies


class Terminal:
    """A bash that a person types into."""

    def __init__(self, program: str, environ: dict[str, str]) -> None:
        self._terminal, other = pty.openpty()
        self._process = subprocess.Popen(
            [program, "--norc", "--noprofile", "-i"],
            stdin=other,
            stdout=other,
            stderr=other,
            env=environ,
            start_new_session=True,
        )
        os.close(other)
        self.seen = ""

    def type(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def wait_for(self, text: str) -> None:
        end = time.monotonic() + 60
        while text not in self.seen:
            if time.monotonic() > end or not select.select([self._terminal], [], [], 60)[0]:
                raise AssertionError(f"{text!r} is not in {self.seen!r}")
            self.seen += os.read(self._terminal, 4096).decode(errors="replace")

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._terminal)


@pytest.fixture
def terminal(environ: dict[str, str]) -> Iterator[Terminal]:
    opened = Terminal(shell("bash"), {**environ, "PS1": "> ", "HISTFILE": "/dev/null"})
    yield opened
    opened.close()


def test_a_tab_completes_in_an_interactive_bash(terminal: Terminal) -> None:
    terminal.type('bind "set enable-bracketed-paste off"; eval "$(fairtrial completion bash)"\n')
    terminal.type("echo rea'dy'\n")
    terminal.wait_for("\nready")
    terminal.seen = ""
    terminal.type("fairtrial sessions sta\t")
    terminal.wait_for("fairtrial sessions stats ")
    terminal.type("--where is:fla\t")
    terminal.wait_for("--where is:flagged")
    terminal.type('\x15fairtrial sessions list -w "turns > 3 and is:fla\t')
    terminal.wait_for("turns > 3 and is:flagged")
    terminal.type("\x15exit\n")
