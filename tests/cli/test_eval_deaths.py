"""Runs of eval tasks that are killed, interrupted, cut short by a limit, or two at once."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.app.suite_repo import a_repo, a_task, loaded
from tests.cli.conftest import Command, process
from tests.cli.test_interrupts import alive, finish, recorded, until
from tests.cli.test_killed import final
from tests.workspaces.levels import needs_bwrap

from fairtrial.app.bench import bench_here

LEVELS = ["none", pytest.param("bwrap", marks=needs_bwrap)]


@pytest.fixture
def signs(tmp_path: Path) -> Path:
    """A folder with a sign that lets the agent of task `b` wait."""
    place = tmp_path / "signs"
    place.mkdir()
    return place


@pytest.fixture
def words(folder: Path, signs: Path) -> Callable[..., tuple[str, ...]]:
    """A command line that runs a suite of two tasks; the agent solves `a` alone."""
    commit = a_repo(folder)
    a_task(folder, commit, "a", instruction="a")
    a_task(folder, commit, "b", instruction="b")
    with_bench = bench_here()
    loaded(with_bench, folder, "a", "b")
    with_bench.close()
    waits = f"while test -e {signs}/wait-$(cat told); do sleep 0.1; done"
    agent = f"cat >told; {waits}; grep -q a told && sed -i 's/a - b/a + b/' calc.py; true"

    def line(level: str, *more: str) -> tuple[str, ...]:
        told = ("--command", agent, "--visible", str(signs), "--level", level, "--trials", "1")
        return ("eval", "run", "failures", *told, "-c", "2", "--seed", "1", *more)

    return line


def left() -> dict[str, Any]:
    """Return what a machine has of the workspaces of this test's store."""
    home = os.environ["FAIRTRIAL_HOME"]
    live = Path(home) / "workspaces" / "live"
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    return {
        "folders": sorted(live.iterdir()) if live.is_dir() else [],
        "mounts": [line for line in mounts if home in line],
        "processes": alive(home),
    }


NOTHING: dict[str, Any] = {"folders": [], "mounts": [], "processes": []}


def groups() -> set[str]:
    """Return the control groups of workspaces on this machine."""
    return {
        f"{folder}/{name}"
        for folder, names, _ in os.walk("/sys/fs/cgroup")
        for name in names
        if name.startswith("fairtrial")
    }


def waiting(running: subprocess.Popen[str], signs: Path) -> bool:
    """Return whether the trial of `a` is on record, and the agent of `b` waits."""
    return running.poll() is not None or (recorded() == 1 and bool(alive(f"{signs}/wait-")))


@pytest.mark.parametrize("level", LEVELS)
def test_killed_in_a_trial_it_leaves_nothing_and_resumes_to_the_same_table(
    level: str, words: Callable[..., tuple[str, ...]], signs: Path, fairtrial: Command
) -> None:
    whole = fairtrial(*words(level, "--json"))
    assert whole.code == 0, whole.err
    before, known = recorded(), groups()
    assert before == 2
    (signs / "wait-b").touch()
    running = process(*words(level), "--memory-mb", "200")
    until(lambda: running.poll() is not None or (recorded() == 3 and bool(alive(f"{signs}/w"))))
    running.send_signal(signal.SIGKILL)
    running.communicate()
    assert running.returncode == -signal.SIGKILL
    until(lambda: alive(f"{signs}/wait-") == [])
    (signs / "wait-b").unlink()
    (status,) = fairtrial("exp", "status", "--json").json["runs"]
    assert status["resume"] == f"fairtrial eval run --resume {status['id']}"
    resumed = fairtrial("eval", "run", "--resume", "--json")
    assert resumed.code == 0, resumed.err
    for key in ("tasks", "told", "n_failed", "notes"):
        assert final(resumed.json[key]) == final(whole.json[key])
    rates = [report.json["arms"][0]["pass_rate"] for report in (whole, resumed)]
    assert rates[0] == rates[1]
    assert recorded() == before + 2
    assert left() == NOTHING
    assert groups() <= known


@pytest.mark.parametrize("level", LEVELS)
def test_ctrl_c_finishes_what_is_in_flight_and_says_how_to_go_on(
    level: str, words: Callable[..., tuple[str, ...]], signs: Path, fairtrial: Command
) -> None:
    (signs / "wait-b").touch()
    running = process(*words(level))
    until(functools.partial(waiting, running, signs))
    running.send_signal(signal.SIGINT)
    running.send_signal(signal.SIGTERM)
    outcome = finish(running)
    assert outcome.code == 130
    assert "fairtrial eval run --resume exp_" in outcome.out
    assert "a  " in outcome.out
    assert left() == NOTHING
    (signs / "wait-b").unlink()
    assert fairtrial("eval", "run", "--resume", "--json").json["n_failed"] == 1


def test_two_runs_at_once_do_not_meet(
    words: Callable[..., tuple[str, ...]], fairtrial: Command
) -> None:
    both = [process(*words("none", "--json", "--name", name)) for name in ("one", "two")]
    reports = [finish(running) for running in both]
    assert [report.code for report in reports] == [0, 0], [report.err for report in reports]
    first, second = (report.json for report in reports)
    assert final(first["tasks"]) == final(second["tasks"])
    assert left() == NOTHING
    assert fairtrial("exp", "compare", "one", "two").code == 0


def test_a_usage_limit_keeps_what_is_finished_and_says_how_to_go_on(
    folder: Path, signs: Path
) -> None:
    commit = a_repo(folder)
    for name in "abcdefgh":
        a_task(folder, commit, name, instruction=name)
    with_bench = bench_here()
    loaded(with_bench, folder, *"abcdefgh")
    with_bench.close()
    program = folder / "claude"
    # As Claude Code prints it when a subscription is used up.
    program.write_text(
        "#!/bin/sh\ncat >/dev/null\n"
        f"if mkdir {signs}/1 2>/dev/null || mkdir {signs}/2 2>/dev/null || test -e {signs}/new\n"
        "then sed -i 's/a - b/a + b/' calc.py\n"
        'echo \'{"type":"result","subtype":"success","is_error":false,"result":"Done"}\'\n'
        'else echo \'{"type":"result","subtype":"success","is_error":true,"result":'
        '"You have hit your usage limit"}\'; exit 1\nfi\n'
    )
    program.chmod(0o755)
    words = ("--agent", "claude-code", "--program", str(program), "--level", "none", "--yes")
    running = process(
        *("eval", "run", "failures", *words, "--trials", "1", "-c", "1", "--seed", "1"),
        env={"ANTHROPIC_API_KEY": "not-a-key-1234567890"},
    )
    outcome = finish(running)
    assert outcome.code == 4, outcome.err
    assert "2 passed" in outcome.out
    assert "usage limit" in outcome.out
    assert "fairtrial eval run --resume exp_" in outcome.out
    (signs / "new").touch()
    resumed = process(
        *("eval", "run", "--resume", "--yes", "--json"),
        env={"ANTHROPIC_API_KEY": "not-a-key-1234567890"},
    )
    report = finish(resumed)
    assert report.code == 0, report.err
    assert report.json["arms"][0]["pass_rate"]["estimate"] == 1.0
    assert report.json["experiment"]["passed"] == 8
