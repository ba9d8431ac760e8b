"""SIGKILL after each of many trial counts: what is resumed ends like what nobody disturbed."""

from __future__ import annotations

import json
import re
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import EXACT, Command, process
from tests.cli.test_interrupts import recorded, until

# Which numbers an agent gets right is fixed by its kind and the trial. A file `block` says how many
# more calls return; those after them never do, so that the program dies at a known place.
AGENT = """
import time
from pathlib import Path
from threading import Lock

LOCK = Lock()


def agent(n, call, kind):
    with LOCK:
        block = Path("block")
        left = int(block.read_text()) if block.exists() else None
        if left:
            block.write_text(str(left - 1))
        if left == 0:
            Path("blocked").touch()
    if left == 0:
        time.sleep(3600)
    right = {
        "poor": n % 4 == 0,
        "fair": n % 2 == 0,
        "good": n % 8 != 1,
        "flaky": n % 5 != call.trial % 3,
    }[kind]
    return str(n) if right else "wrong"
"""


def agent(kind: str) -> str:
    told = {"kind": "python", "function": "killed_agents:agent", "arguments": {"kind": kind}}
    return json.dumps(told)


def cases(path: Path, numbers: range, train: int = 0) -> str:
    lines = []
    for n in numbers:
        case: dict[str, Any] = {"id": f"c{n:04}", "input": n, "expected": str(n)}
        if train:
            case["split"] = "train" if n < train else "test"
        lines.append(json.dumps(case))
    path.write_text("\n".join(lines) + "\n")
    return path.name


Kill = Callable[..., None]


@pytest.fixture
def kill(fairtrial: Command, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kill]:
    """Run a command line in a process of its own, and kill it once so many trials are on record."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    (folder / "killed_agents.py").write_text(AGENT)
    for name, file in (
        ("bugs", cases(folder / "bugs.jsonl", range(24), train=12)),
        ("faq", cases(folder / "faq.jsonl", range(100, 104))),
        ("numbers", cases(folder / "numbers.jsonl", range(20))),
    ):
        assert fairtrial("dataset", "add", name, file).code == 0

    def kill(*words: str, after: int) -> None:
        before = recorded()
        (folder / "block").write_text(str(after))
        running = process(*words, "-c", "2", cwd=folder)
        blocked = folder / "blocked"
        until(
            lambda: (
                (blocked.exists() and recorded() == before + after) or running.poll() is not None
            )
        )
        running.send_signal(signal.SIGKILL)
        _, err = running.communicate()
        assert running.returncode == -signal.SIGKILL, err
        assert recorded() == before + after
        (folder / "block").unlink()
        blocked.unlink()

    yield kill
    sys.modules.pop("killed_agents", None)


PASSING = frozenset(
    (
        *("created_at", "started_at", "finished_at", "elapsed_s", "duration_s", "durations"),
        *("slowest_rows", "next_steps", "in_session", "vs_baseline", "note", "identity"),
        *("mean_duration_s", "quantities", "policy", "resume", "tried", "measured_at"),
    )
)
"""What differs between two runs of the same, or by what ran before."""


def final(told: Any) -> Any:
    """Return what a command came to, without ids and times.

    Rows are added up in the order in which they were recorded, which moves the last digit.
    """
    if isinstance(told, dict):
        return {name: final(entry) for name, entry in told.items() if name not in PASSING}
    if isinstance(told, list):
        return [final(entry) for entry in told]
    if isinstance(told, str):
        return re.sub(r"exp_[0-9A-Z]{26}", "exp_", told)
    return round(told, 12) if isinstance(told, float) else told


SWEEP = (
    *("exp", "sweep", f"base={agent('poor')}", f"mid={agent('fair')}", f"best={agent('good')}"),
    *("-d", "bugs", *EXACT, "--guard", "faq", "--seed", "3"),
)


# 12 and 14 trials in the two rounds of the race, 24 held out, 24 in the guard.
@pytest.mark.parametrize("after", [0, 11, 12, 26, 49, 50, 73])
def test_a_sweep(kill: Kill, fairtrial: Command, after: int) -> None:
    whole = fairtrial(*SWEEP, "--json")
    assert (whole.code, whole.json["adopted"], recorded()) == (0, "best", 74)
    kill(*SWEEP, after=after)
    resumed = fairtrial("exp", "sweep", "--resume", "--json")
    assert resumed.code == 0, resumed.err
    assert final(resumed.json) == final(whole.json)
    assert recorded() == 2 * 74


AA = ("exp", "aa", "-d", "numbers", "--task", agent("flaky"), *EXACT, "--trials", "2")


@pytest.mark.parametrize("after", [1, 79])
def test_an_aa_run(kill: Kill, fairtrial: Command, after: int) -> None:
    whole = fairtrial(*AA, "--seed", "3", "--json")
    assert (whole.code, whole.json["noise_floor"]["flip_rate"] > 0) == (0, True)
    kill(*AA, "--seed", "3", after=after)
    (left,) = fairtrial("exp", "status", "--json").json["runs"]
    assert left["resume"] == f"fairtrial exp aa --resume {left['id']}"
    resumed = fairtrial("exp", "aa", "--resume", "--json")
    assert resumed.code == 0, resumed.err
    assert final(resumed.json) == final(whole.json)


ARMS = ("--arm", f"base={agent('fair')}", "--arm", f"cand={agent('good')}")
MATRIX = {
    "dataset": "numbers",
    "graders": ["exact"],
    "task": json.loads(agent("fair")),
    "matrix": {"arguments.kind": ["fair", "good", "flaky"]},
}
RUNS = {
    "arms": ARMS,
    "early": (*ARMS, "--stop-early", "--looks", "2"),
    "adaptive": ("--task", agent("flaky"), "--samples", "adaptive"),
    "matrix": ("matrix.json",),
}


@pytest.mark.parametrize("after", [1, 19])
@pytest.mark.parametrize("name", RUNS)
def test_a_run(kill: Kill, fairtrial: Command, folder: Path, name: str, after: int) -> None:
    (folder / "matrix.json").write_text(json.dumps(MATRIX))
    named = () if name == "matrix" else ("-d", "numbers", *EXACT)
    words = ("exp", "run", *RUNS[name], *named, "--seed", "3", "--name", "k")
    whole = fairtrial(*words, "--json")
    kill(*words, after=after)
    resumed = fairtrial("exp", "run", "--resume", "--json")
    assert resumed.code == whole.code, resumed.err
    assert final(resumed.json) == final(whole.json)


@pytest.mark.parametrize("after", [0, 19])
def test_a_round_of_a_series(kill: Kill, fairtrial: Command, after: int) -> None:
    def a_round(series: str, kind: str) -> tuple[str, ...]:
        named = ("--task", agent(kind), "--series", series, "--name", kind, "--seed", "3")
        return ("exp", "run", "-d", "numbers", *EXACT, *named)

    for kind in ("poor", "fair", "good"):
        fairtrial(*a_round("whole", kind))
    fairtrial(*a_round("cut", "poor"))
    kill(*a_round("cut", "fair"), after=after)
    between = fairtrial("exp", "plateau", "--series", "cut", "--json").json
    assert [one["left_out"] is None for one in between["rounds"]] == [True, False]
    assert fairtrial("exp", "run", "--resume").code == 0
    last = fairtrial(*a_round("cut", "good"), "--json").json["loop"]
    whole, cut = (
        final(fairtrial("exp", "plateau", "--series", name, "--json").json)
        for name in ("whole", "cut")
    )
    assert {**cut, "of": None} == {**whole, "of": None}
    assert final(last) == cut
