"""Nothing that may cost money runs before the user has seen what it may cost, and agreed."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.app.suite_repo import a_repo, a_task, loaded
from tests.cli.conftest import Command
from tests.cli.test_interrupts import PATIENCE_S, recorded

from fairtrial.app.bench import bench_here

CLAUDE = """#!/bin/sh
cat >/dev/null
echo '{"type":"result","subtype":"success","is_error":false,"result":"Done","total_cost_usd":0.25,\
"usage":{"input_tokens":10,"output_tokens":5},"modelUsage":{"claude-sonnet-5-5":{"costUSD":0.25}}}'
"""


@pytest.fixture
def words(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """A command line that runs one task with an agent that costs money."""
    a_task(folder, a_repo(folder))
    with_bench = bench_here()
    loaded(with_bench, folder)
    with_bench.close()
    program = folder / "claude"
    program.write_text(CLAUDE)
    program.chmod(0o755)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "not-a-key-1234567890")
    agent = ("--agent", "claude-code", "--program", str(program), "--level", "none")
    return ("eval", "run", "failures", *agent, "--trials", "2")


def typed(words: tuple[str, ...], answer: bytes | None) -> tuple[int, str]:
    """Run a command line on a terminal and answer its question, with Ctrl-C for None.

    Returns:
        Its exit code, and what was on the screen.
    """
    screen, answered, deadline = b"", False, time.monotonic() + PATIENCE_S
    mine, its = pty.openpty()
    command = [sys.executable, "-m", "fairtrial", *words]
    with subprocess.Popen(command, stdin=its, stdout=its, stderr=its, start_new_session=True) as it:
        try:
            while it.poll() is None or select.select([mine], [], [], 0)[0]:
                assert time.monotonic() < deadline, screen
                if select.select([mine], [], [], 0.05)[0]:
                    screen += os.read(mine, 4096)
                if b"[y/N]" in screen and answer is None:
                    # One that comes just before it reads is noticed with the next.
                    it.send_signal(signal.SIGINT)
                    answered = True
                elif b"[y/N]" in screen and not answered:
                    os.write(mine, answer or b"")
                    answered = True
        finally:
            it.kill()
            os.close(mine)
            os.close(its)
    assert answered, screen
    return it.returncode, screen.decode(errors="replace")


def test_on_a_terminal_the_user_is_asked(words: tuple[str, ...]) -> None:
    code, screen = typed(words, b"n\n")
    assert code == 77, screen
    assert "Plan of failures" in screen
    assert "Run 2 trials for an unknown cost?" in screen
    assert recorded() == 0
    code, screen = typed(words, None)
    assert code in (130, -signal.SIGINT), screen  # the latter of one that came while it ended
    assert "interrupted" in screen
    assert recorded() == 0
    code, screen = typed(words, b"y\n")
    assert code == 0, screen
    assert recorded() == 2


def test_the_estimate_comes_from_earlier_trials_of_the_task(
    words: tuple[str, ...], fairtrial: Command
) -> None:
    report = fairtrial(*words, "--yes", "--json")
    assert report.code == 0, report.err
    assert report.json["arms"][0]["cost_usd"] == 0.5
    plan = fairtrial(*words, "--dry-run", "--json").json["cost"]
    assert plan["least_usd"] == 0.5
    assert plan["basis"] == "earlier trials"
    other = fairtrial(*words, "--model", "another", "--dry-run", "--json").json["cost"]
    assert other["least_usd"] is None
    assert "neither an earlier trial nor a session" in other["reason"]
    refused = fairtrial(*words, "--yes", "--max-cost", "0.1")
    assert refused.code == 77
    assert "expected to cost more" in refused.err


def test_a_whole_run_asks_nothing(words: tuple[str, ...], fairtrial: Command) -> None:
    report = fairtrial(*words, "--yes", "--json").json
    again = fairtrial("eval", "run", "--resume", report["experiment"]["id"], "--json")
    assert again.code == 0, again.err
    assert json.dumps(again.json["arms"]) == json.dumps(report["arms"])
