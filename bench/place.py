"""Where the workloads run: a temporary folder with cases, tasks and stores, made when needed."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from bench.measuring import Command, Sample, measure

TASKS = """
import itertools, os, random, signal

CALLS = itertools.count(1)
STOP_AT = int(os.environ.get("STOP_AT", "0"))

def double(value):
    if STOP_AT and next(CALLS) == STOP_AT:
        os.kill(os.getpid(), signal.SIGINT)
    return str(value["n"] * 2)

async def double_async(value):
    return str(value["n"] * 2)

def lucky(value, harder):
    draw = random.Random(value["n"] * 1_000_003 + next(CALLS))
    return str(value["n"] * 2) if draw.random() < draw.betavariate(1, harder) else "no"

async def luck_base(value):
    return lucky(value, 1.0)

async def luck_cand(value):
    return lucky(value, 0.9)
"""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much the workloads do; targets are meant for the defaults.

    Attributes:
        cases: Of the smaller runs.
        many: Cases of the larger run, and of the one that is resumed.
        huge: Cases of the largest run.
        experiments: In the store that is listed.
        answer_s: How long the server thinks.
    """

    cases: int = 1_000
    many: int = 10_000
    huge: int = 100_000
    experiments: int = 10_000
    answer_s: float = 0.05


TINY = Sizes(cases=20, many=60, huge=100, experiments=50, answer_s=0.001)


@dataclass(frozen=True)
class Place:
    """What all workloads share.

    Attributes:
        folder: A temporary folder.
        rounds: How often each command is measured.
        sizes: How much is done.
        python: The interpreter whose fairtrial is measured.
    """

    folder: Path
    rounds: int
    sizes: Sizes = field(default_factory=Sizes)
    python: str = sys.executable

    def fairtrial(self, *words: str, home: str = "home", status: int = 0, **env: str) -> Command:
        """Return one of our commands, on the store of a name."""
        program = str(Path(self.python).parent / "fairtrial")
        environment = {"FAIRTRIAL_HOME": str(self.folder / home), **env}
        return Command((program, *words), environment, self.folder, status=status)

    def floor(self, name: str, *words: object) -> Command:
        """Return a program of `bench/floors`."""
        program = Path(__file__).parent / "floors" / f"{name}.py"
        return Command((self.python, str(program), *map(str, words)), cwd=self.folder)

    def store(self, home: str = "home") -> Path:
        """Return the database of a store."""
        return self.folder / home / "fairtrial.db"

    def cases(self, count: int) -> Path:
        """Return a file of so many cases, made on first use."""
        path = self.folder / f"cases-{count}.jsonl"
        if not path.exists():
            with path.open("w", encoding="utf-8") as file:
                for n in range(count):
                    case = {"id": f"c{n:06}", "input": {"q": f"twice {n}", "n": n}}
                    file.write(json.dumps({**case, "expected": str(2 * n)}) + "\n")
        return path

    def dataset(self, count: int, home: str = "home") -> str:
        """Return the name of a dataset of so many cases, added on first use."""
        name = f"d{count}"
        done = self.folder / f"{home}-{name}.added"
        if not done.exists():
            measure(self.fairtrial("dataset", "add", name, str(self.cases(count)), home=home))
            done.touch()
        return name

    def run(self, count: int, task: str, *words: str, home: str = "home") -> Command:
        """Return the command that runs a python task of `TASKS` over a dataset."""
        (self.folder / "bench_tasks.py").write_text(TASKS, encoding="utf-8")
        spec = json.dumps({"kind": "python", "function": f"bench_tasks:{task}"})
        chosen = ("--dataset", self.dataset(count, home), "--task", spec, "--grader", "exact")
        return self.fairtrial("exp", "run", *chosen, "--json", *words, home=home)

    @cached_property
    def huge_run(self) -> Sample:
        """The largest run, once; its experiment stays in the store `huge`."""
        return measure(self.run(self.sizes.huge, "double_async", home="huge"))

    def copy(self, home: str, to: str) -> None:
        """Make a store anew from another one."""
        shutil.rmtree(self.folder / to, ignore_errors=True)
        shutil.copytree(self.folder / home, self.folder / to)
