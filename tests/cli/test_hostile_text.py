"""Ids and names that look like options or move a cursor: shown harmless, and still usable."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import CAT, EXACT, Command

from fairtrial.model.command_line import option

IDS = ["c1", "a b'c", "--json", "-x", "$(id)", "nl\nx", "\x1b[31m\\'q", "\u202e\x9b31m", "é💥", "*"]


@pytest.mark.parametrize("case_id", IDS)
def test_a_command_line_names_any_case(case_id: str) -> None:
    typed = option("--case", case_id)
    assert typed.isprintable()
    script = f"{sys.executable} -c 'import json, sys; print(json.dumps(sys.argv[1:]))' {typed}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    words = json.loads(done.stdout)
    given = words[0].removeprefix("--case=") if len(words) == 1 else words[1]
    assert given == case_id


def test_the_commands_that_a_report_prints_open_the_case(fairtrial: Command, folder: Path) -> None:
    cases = [{"id": case_id, "input": "x", "expected": "y"} for case_id in IDS]
    (folder / "h.json").write_text(json.dumps(cases))
    fairtrial("dataset", "add", "h", "h.json")
    task = json.dumps({"kind": "command", "command": "echo y"})
    assert fairtrial("exp", "run", "-d", "h", "--task", task, *EXACT, "--name", "good").code == 0
    fairtrial("exp", "run", "-d", "h", "--task", CAT, *EXACT, "--name", "bad")
    out = fairtrial("exp", "compare", "good", "bad").out
    commands = [line for line in out.splitlines() if line.startswith("    fairtrial exp show")]
    assert len(commands) == 5
    for command in commands:
        script = command.strip().replace("fairtrial", f"{sys.executable} -m fairtrial", 1)
        done = subprocess.run(["bash", "-c", script], capture_output=True, check=False)
        assert done.returncode == 0, (command, done.stderr)


@pytest.mark.usefixtures("numbers")
def test_errors_and_headers_are_harmless_in_a_terminal(fairtrial: Command) -> None:
    err = fairtrial("exp", "show", "\x1b[31m\u202e").err
    assert "\\x1b[31m\\u202e" in err
    assert len(fairtrial("exp", "show", "x" * 100_000).err) < 3_000
    arms = ("--arm", "a\x1b[31m=true", "--arm", "b=true")
    out = fairtrial("exp", "metrics", *arms, "--pairs", "1").out
    assert "\\x1b[31m" in out
    for shown in (err, out):
        assert not any(char in shown for char in "\x1b\u202e")
