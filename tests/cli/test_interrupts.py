"""Ctrl-C, SIGTERM and SIGKILL: finished trials stay, a resume runs exactly the rest."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import random
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import EXACT, Command, Outcome, process, write_cases

from fairtrial.cli.main import main
from fairtrial.model.errors import ExitCode

PATIENCE_S = 60.0


def until(met: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not met():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def recorded() -> int:
    """Trials on record in the only experiment, read without the code under test."""
    path = Path(os.environ["FAIRTRIAL_HOME"]) / "fairtrial.db"
    try:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as store:
            return int(store.execute("select count(*) from trial").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def alive(mark: str) -> list[str]:
    found = subprocess.run(["pgrep", "-f", mark], capture_output=True, text=True, check=False)
    return found.stdout.split()


def reached(n: int, running: subprocess.Popen[str]) -> bool:
    return recorded() >= n or running.poll() is not None


def finish(running: subprocess.Popen[str]) -> Outcome:
    out, err = running.communicate(timeout=PATIENCE_S)
    assert "Traceback" not in err
    return Outcome(running.returncode, out, err)


@pytest.fixture
def cases(fairtrial: Command, folder: Path) -> int:
    write_cases(folder / "cases.jsonl", 1000)
    fairtrial("dataset", "add", "numbers", "cases.jsonl")
    return 1000


def command(text: str, *more: str) -> tuple[str, ...]:
    task = json.dumps({"kind": "command", "command": text})
    return ("exp", "run", "-d", "numbers", "--task", task, *EXACT, "--name", "x", *more)


def test_killed_at_any_moment_a_run_resumes_to_every_trial_once(
    fairtrial: Command, cases: int, folder: Path
) -> None:
    log = folder / "ran"
    words = command(f'echo "$FAIRTRIAL_CASE_ID" >> {log}; cat', "--concurrency", "8", "--json")
    targets = sorted(random.Random(5).sample(range(1, 900), 4))  # noqa: S311  # any moments do
    done_before = -1
    for target in targets:
        resume = ("--resume",) if recorded() else ()
        running = process(*words, *resume)
        until(functools.partial(reached, target, running))
        running.kill()
        running.communicate()
        done_now = recorded()
        assert done_before < done_now
        done_before = done_now
    status = fairtrial("exp", "status", "--json").json["runs"]
    assert [(run["alive"], run["n_recorded"]) for run in status] == [(False, done_before)]
    assert status[0]["resume"].startswith("fairtrial exp run --resume exp_")
    assert fairtrial("exp", "list", "--json").json["experiments"][0]["alive"] is False
    assert "died (its process is gone)" in fairtrial("exp", "status").out
    assert " died " in fairtrial("exp", "list").out
    report = finish(process(*words, "--resume"))
    assert report.code == 0, report.err
    assert (report.json["n_recorded"], report.json["passed"]) == (cases, cases)
    assert recorded() == cases
    ran = log.read_text().split()
    assert len(set(ran)) == cases
    # What was in flight, or on its way to the disk, when a run died has run twice; no more.
    assert len(ran) - cases < len(targets) * (8 + 256)
    until(lambda: alive(str(log)) == [])


def test_the_first_ctrl_c_drains_and_says_how_to_go_on(fairtrial: Command, cases: int) -> None:
    running = process(*command("sleep 0.2; cat", "--concurrency", "4"))
    until(lambda: recorded() >= 4)
    running.send_signal(signal.SIGINT)
    done = finish(running)
    assert done.code == ExitCode.INTERRUPTED
    assert "finishing the trials in flight" in done.err
    assert "interrupted: Ctrl-C" in done.out
    assert "fairtrial exp run --resume exp_" in done.out
    n = recorded()
    assert 4 <= n < cases
    state = fairtrial("exp", "show", "x", "--json").json
    assert (state["status"], state["n_recorded"], state["undecided"]) == ("interrupted", n, 0)


def test_ctrl_c_while_it_starts_is_no_defect(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("fairtrial.cli.main._run", interrupted)
    assert main(["exp", "list"]) == ExitCode.INTERRUPTED
    assert capfd.readouterr().err == "interrupted\n"


@pytest.mark.parametrize(
    "signals", [(signal.SIGINT, signal.SIGINT), (signal.SIGTERM,), (signal.SIGHUP,)]
)
def test_the_second_ctrl_c_and_sigterm_end_what_runs(
    fairtrial: Command, cases: int, signals: tuple[signal.Signals, ...]
) -> None:
    mark = f"sleep 31.{os.getpid()}"
    script = f'n=$(cat); [ "$n" -lt 996 ] && echo "$n" || {mark}'
    running = process(*command(script, "--concurrency", "4"))
    until(lambda: len(alive(mark)) >= 4 * 2 or recorded() >= cases - 4)
    for number in signals:
        running.send_signal(number)
        time.sleep(0.3)  # two signals of one kind that come at once are one
    done = finish(running)
    assert done.code == ExitCode.INTERRUPTED
    assert alive(mark) == []
    assert fairtrial("exp", "show", "x", "--json").json["undecided"] == 0


def test_a_killed_run_leaves_no_process(cases: int) -> None:
    mark = f"sleep 37.{os.getpid()}"
    running = process(*command(f"(setsid {mark} &); {mark}", "--concurrency", "4"))
    until(lambda: len(alive(mark)) >= 8)
    running.kill()
    running.communicate()
    until(lambda: alive(mark) == [])
    assert cases


def test_a_run_that_goes_on_cannot_be_resumed_twice(fairtrial: Command, cases: int) -> None:
    running = process(*command("sleep 30; cat"))
    until(lambda: fairtrial("exp", "list", "--json").json["experiments"] != [])
    refused = fairtrial("exp", "run", "--resume", "x")
    assert refused.code == ExitCode.REFUSED
    assert str(running.pid) in refused.err
    status = fairtrial("exp", "status")
    assert f"0 of {cases:,} trials" in status.out
    running.terminate()
    assert finish(running).code == ExitCode.INTERRUPTED


def test_resuming_what_is_finished_runs_nothing(fairtrial: Command, folder: Path) -> None:
    write_cases(folder / "few.jsonl", 3)
    fairtrial("dataset", "add", "numbers", "few.jsonl")
    fairtrial(*command("cat"))
    again = fairtrial("exp", "run", "--resume", "x")
    assert again.code == 0
    assert "nothing to resume" in again.out + again.err


@pytest.mark.parametrize(
    "more", [("--trials", "5"), ("-g", "exact"), ("--case", "c*"), ("--seed", "3"), ("--name", "y")]
)
def test_a_resume_refuses_what_it_would_ignore(
    fairtrial: Command, folder: Path, more: tuple[str, ...]
) -> None:
    write_cases(folder / "few.jsonl", 3)
    fairtrial("dataset", "add", "numbers", "few.jsonl")
    fairtrial(*command("cat"))
    done = fairtrial("exp", "run", "--resume", "x", *more)
    assert done.code == ExitCode.USAGE
    assert "cannot change what is resumed" in done.err
    assert fairtrial("exp", "run", "--resume", "x", "--concurrency", "2").code == 0


def test_plain_progress_is_told_without_a_terminal(
    fairtrial: Command, cases: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fairtrial.cli.progress.PLAIN_EVERY_S", 0.2)
    done = fairtrial(*command("sleep 0.1; cat", "--first-n", "20"))
    lines = [line for line in done.err.splitlines() if "/20" in line]
    assert lines
    assert "passed 100.0% [" in lines[-1]
    assert cases
