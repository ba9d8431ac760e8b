"""The benchmarks work; what they measure is never asserted here."""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from bench.__main__ import WORKLOADS
from bench.measuring import Command, Result, in_turns, measure
from bench.table import Row, text

ROOT = Path(__file__).parents[2]
QUICK = "W3"


@pytest.mark.parametrize(
    "workload",
    [
        QUICK,
        *(pytest.param(name, marks=pytest.mark.slow) for name in WORKLOADS if name != QUICK),
    ],
)
def test_a_workload_runs_from_floor_to_table(workload: str) -> None:
    words = ("--tiny", "--rounds", "1", "--json", "--only", workload)
    done = subprocess.run(
        [sys.executable, "-m", "bench", *words], cwd=ROOT, capture_output=True, check=False
    )
    assert done.returncode in (0, 1), done.stderr  # with sizes this small, targets mean nothing
    rows = json.loads(done.stdout)
    assert {row["workload"] for row in rows} == {workload}
    assert all(row["ours"] > 0 for row in rows)


def test_every_workload_explains_itself() -> None:
    for module in WORKLOADS.values():
        source = ROOT / f"{module.replace('.', '/')}.py"
        assert source.read_text(encoding="utf-8").startswith('"""W')


def test_commands_take_turns() -> None:
    turns: list[str] = []
    commands = {
        name: Command((sys.executable, "-c", "print(1)"), before=partial(turns.append, name))
        for name in ("a", "b")
    }
    results = in_turns(2, **commands)
    assert turns == ["a", "b"] * 3  # one round to warm up
    assert [len(result.samples) for result in results.values()] == [2, 2]
    assert results["a"].samples[0].output == b"1\n"
    assert results["a"].wall_s > 0


def test_a_command_that_fails_is_no_measurement() -> None:
    with pytest.raises(RuntimeError, match="ended with 3"):
        measure(Command((sys.executable, "-c", "raise SystemExit(3)")))


def test_a_row_is_held_against_its_target() -> None:
    assert Row("W1", "start", "ms", 15.0, 10.0, 1.6).holds
    assert not Row("W1", "start", "ms", 17.0, 10.0, 1.6).holds
    assert Row("W1", "memory", "MB", 19.0, None, 20).holds
    assert Row("W1", "to know", "ms", 19.0, 1.0, None).holds
    assert "| OVER |" in text([Row("W1", "start", "ms", 17.0, 10.0, 1.6)])


def test_the_median_is_of_each_figure() -> None:
    sample = measure(Command((sys.executable, "-c", "pass")))
    assert Result([sample]).rss == sample.rss
    assert Result([sample]).cpu_s == sample.cpu_s
