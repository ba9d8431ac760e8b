"""A run of any design that is killed at any moment, and resumed, ends like an undisturbed one."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli import dying
from tests.cli.conftest import EXACT, Command, write_cases

AGENT = """
def agent(n, call, kind):
    wrong = {
        "good": False,
        "bad": n % 2 == 0,
        "flaky": n % 3 == 0 and call.trial % 2 == 0,
        "regressed": n == 7,
        "learner": call.attempt <= n % 4,
    }[kind]
    return "no" if wrong else str(n)
"""


def agent(kind: str) -> dict[str, Any]:
    return {"kind": "python", "function": "mortal_agent:agent", "arguments": {"kind": kind}}


def arms(a: str, b: str) -> tuple[str, ...]:
    return ("--arm", f"a={json.dumps(agent(a))}", "--arm", f"b={json.dumps(agent(b))}")


def task(kind: str) -> tuple[str, ...]:
    return ("--task", json.dumps(agent(kind)))


MATRIX = {"task": agent("good"), "matrix": {"arguments.kind": ["bad", "good", "flaky"]}}

DESIGNS = {
    "plain": (4, 1, (*task("flaky"), "--trials", "2")),
    "arms": (4, 1, arms("bad", "good")),
    "early, stopped": (40, 7, (*arms("bad", "good"), "--stop-early", "--looks", "2")),
    "early, all looks": (20, 9, (*arms("bad", "flaky"), "--stop-early", "--looks", "2")),
    "adaptive": (7, 1, (*task("flaky"), "--samples", "adaptive")),
    "seq": (6, 1, (*task("learner"), "--seq", "3")),
    "regression": (20, 4, (*task("regressed"), "--stop-on-regression", "--baseline", "held")),
    "no regression": (20, 6, (*task("good"), "--stop-on-regression", "--baseline", "held")),
    "matrix": (4, 2, ("matrix.json",)),
    "matrix, adaptive": (4, 3, ("matrix.json", "--samples", "adaptive")),
    "matrix, reused": (4, 3, ("matrix.json", "--reuse", "all")),
}
"""By name: cases, every how many commits it is killed, and the options of the run."""

_OF_TIME = {"created_at", "finished_at", "since", "duration_s", "mean_duration_s", "slowest_rows"}
"""What two runs of the same differ in."""


def timeless(value: Any) -> Any:
    if isinstance(value, dict):
        # The note of a resume says that nothing was left to run.
        return {k: timeless(v) for k, v in value.items() if k not in _OF_TIME | {"note"}}
    if isinstance(value, list):
        kept = [v for v in value if not (isinstance(v, dict) and v.get("name") == "duration")]
        return [timeless(v) for v in kept]
    return value


def table(text: str) -> str:
    """Return what a run came to, byte for byte, without ids and times."""
    told = json.dumps(timeless(json.loads(text)), indent=1, sort_keys=True)
    return re.sub("exp_[0-9A-Z]{26}", "exp_ID", told)


@pytest.mark.parametrize("name", DESIGNS)
def test_killed_after_any_commit_and_resumed_it_ends_as_if_nothing_had_been(
    fairtrial: Command, folder: Path, name: str
) -> None:
    cases, step, words = DESIGNS[name]
    (folder / "mortal_agent.py").write_text(AGENT)
    (folder / "matrix.json").write_text(json.dumps(MATRIX))
    write_cases(folder / "cases.jsonl", cases)
    assert fairtrial("dataset", "add", "numbers", "cases.jsonl").code == 0
    run = ("exp", "run", "-d", "numbers", *EXACT, "--seed", "1", "-c", "2")
    before = process_of(*run, *task("good"), "--name", "held")
    assert before.returncode == 0, before.stderr
    whole, *killed = ends(str(step), *run, *words, "--name", "k", "--json")
    # One opens it, one closes it; the others keep its trials.
    assert whole["commits"] >= 2 + json.loads(whole["report"])["n_recorded"]
    assert len(killed) >= whole["commits"] / step
    for end in killed:
        moment = f"killed after commit {end['commits']} of {whole['commits']}"
        assert end["codes"] == whole["codes"], (moment, end["errors"])
        assert table(end["report"]) == table(whole["report"]), moment
        assert table(end["show"]) == table(whole["show"]), moment


def ends(step: str, *words: str) -> list[Any]:
    told = process_of("k", step, *words, program=(dying.__file__,))
    assert told.returncode == 0, told.stderr
    return [json.loads(line) for line in told.stdout.splitlines()]


def process_of(
    *words: str, program: tuple[str, ...] = ("-m", "fairtrial")
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *program, *words],
        env={**os.environ, "PYTHONPATH": "."},
        capture_output=True,
        text=True,
        check=False,
    )
