"""Several processes and threads on one store, and processes that are killed while they write."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from fairtrial.store.opening import open_store
from fairtrial.testing.store.facts import NOON, a_trial, an_experiment, assert_aggregates

# Records batches of five trials: `first` and up, one acknowledgement a batch on its own line.
# Every third batch has large outputs; every fourth is a second record of the batch before.
_WRITER = """
import sys
from pathlib import Path
from fairtrial.store.opening import open_store
from fairtrial.testing.store.facts import NOON, a_trial, an_experiment
home, experiment, first, count = Path(sys.argv[1]), *map(int, sys.argv[2:])
noise = "".join(f"{n * n:x}" for n in range(3_000))
with open_store(home) as store:
    print("open", flush=True)
    sys.stdin.readline()
    for n in range(first, first + count):
        batch = [
            a_trial(
                f"{n - (n % 4 == 3)}-{k}",
                verdict=("passed", "failed", "undecided")[(n + k) % 3],
                output=f"{n} {k} {noise if n % 3 == 0 else ''}",
                cost_usd=0.25,
            )
            for k in range(5)
        ]
        store.experiments.record(an_experiment(experiment).id, batch, NOON)
        print(n, flush=True)
"""
_OPENER = """
import sys
from pathlib import Path
from fairtrial.store.opening import open_store
print("up", flush=True)
sys.stdin.readline()
with open_store(Path(sys.argv[1])) as store:
    print(len(store.experiments.newest(1)), flush=True)
"""
_BATCH = 5


def _start(script: str, *argv: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, argv)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _run_together(children: Sequence[subprocess.Popen[str]]) -> list[list[str]]:
    """Let children that are up go at once, and return what each said from then on."""
    for child in children:
        assert child.stdout
        child.stdout.readline()
    for child in children:
        assert child.stdin
        child.stdin.write("\n")
        child.stdin.flush()
    said = [child.communicate(timeout=60)[0].split() for child in children]
    assert [child.returncode for child in children] == [0] * len(children)
    return said


def test_many_processes_make_one_store(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert _run_together([_start(_OPENER, home) for _ in range(6)]) == [["0"]] * 6
    assert [path.name for path in home.iterdir()] == ["fairtrial.db"]


def test_two_processes_record_two_experiments(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        for number in (1, 2):
            store.experiments.open_experiment(an_experiment(number), [1])
        _run_together([_start(_WRITER, tmp_path, number, 0, 40) for number in (1, 2)])
        for number in (1, 2):
            experiment = an_experiment(number)
            kept = list(store.experiments.trials(experiment.id))
            assert len(kept) == 30 * _BATCH
            assert_aggregates(store.experiments, experiment, kept)


def test_two_processes_record_one_experiment(tmp_path: Path) -> None:
    experiment = an_experiment()
    with open_store(tmp_path) as store:
        store.experiments.open_experiment(experiment, [1])
        # The second half of the first one's batches is the first half of the other's.
        _run_together([_start(_WRITER, tmp_path, 1, first, 40) for first in (0, 20)])
        kept = list(store.experiments.trials(experiment.id))
        assert len(kept) == 45 * _BATCH
        assert_aggregates(store.experiments, experiment, kept)


def test_threads_read_while_one_writes(tmp_path: Path) -> None:
    experiment = an_experiment()
    with open_store(tmp_path) as store, ThreadPoolExecutor(3) as threads:
        store.experiments.open_experiment(experiment, [1])

        def write() -> None:
            for n in range(60):
                batch = [a_trial(f"{n}", k, output="x" * 9_000) for k in (1, 2, 3)]
                store.experiments.record(experiment.id, batch, NOON)

        def read() -> None:
            for _ in range(30):
                totals = store.experiments.find(experiment.id).totals
                assert totals.recorded == 3 * totals.rows
                assert len(list(store.experiments.trials(experiment.id))) >= totals.recorded

        for done in [threads.submit(write), threads.submit(read), threads.submit(read)]:
            done.result()
        assert store.experiments.find(experiment.id).totals.passed == 180


def test_killed_processes_lose_no_acknowledged_trial(tmp_path: Path) -> None:
    seeded = random.Random(20260301)  # noqa: S311  # the same moments on every run
    with open_store(tmp_path) as store:
        for number in (1, 2):
            store.experiments.open_experiment(an_experiment(number), [1])
    for first in (0, 1_000, 2_000):
        children = [_start(_WRITER, tmp_path, number, first, 1_000) for number in (1, 2)]
        acknowledged = _kill_in_the_middle(children, seeded)
        for number, said in zip((1, 2), acknowledged, strict=True):
            _check(tmp_path, number, range(first, first + said))


def _kill_in_the_middle(
    children: Sequence[subprocess.Popen[str]], seeded: random.Random
) -> list[int]:
    """Kill children that write, and return how many batches each acknowledged."""
    for child in children:
        assert child.stdin
        assert child.stdout
        child.stdout.readline()
        child.stdin.write("\n")
        child.stdin.flush()
    counts = []
    for child in children:
        assert child.stdout
        before = seeded.randrange(1, 60)
        for _ in range(before):
            child.stdout.readline()
        for _ in range(seeded.randrange(20_000)):
            pass
        child.kill()
        counts.append(before + len(child.communicate()[0].split()))
    return counts


def _check(home: Path, number: int, acknowledged: range) -> None:
    experiment = an_experiment(number)
    with open_store(home) as store:
        kept = list(store.experiments.trials(experiment.id))
        assert_aggregates(store.experiments, experiment, kept)
    batches = Counter(trial.key.case_id.partition("-")[0] for trial in kept)
    assert set(batches.values()) == {_BATCH}
    assert not {str(n) for n in acknowledged if n % 4 != 3} - set(batches)
    with closing(sqlite3.connect(home / "fairtrial.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
