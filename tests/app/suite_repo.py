"""A repository with a suite of eval tasks in it, loaded into the store of a bench."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fairtrial.app.bench import Bench
from fairtrial.model.eval_task import Command, EvalTask, RepoStart, Verifier
from fairtrial.suites.folders import TASKS, read_task, suite_folder
from fairtrial.suites.writing import write_task

SUITE = "failures"
FILES = {
    "calc.py": "def add(a, b):\n    return a - b\n",
    "test_calc.py": "from calc import add\nadd(2, 3) == 5 or exit('add is wrong')\n",
    "AGENTS.md": "Be nice.\n",
}


def a_repo(root: Path, files: Mapping[str, str] = FILES) -> str:
    """Make a repository of one commit in a folder that is there, and return the commit's id."""
    for name, text in files.items():
        (root / name).write_text(text)
    who = ("-c", "user.name=A", "-c", "user.email=a@x")
    for words in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-q", "-m", "start")):
        subprocess.run(["git", *who, *words], cwd=root, check=True)
    told = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=root, check=True, capture_output=True, text=True
    )
    return told.stdout.strip()


def a_task(root: Path, commit: str, name: str = "fix-add", **changed: Any) -> EvalTask:
    """Write the folder of a task of the suite, and return the task."""
    told: dict[str, Any] = {
        "suite": SUITE,
        "instruction": "Fix add in calc.py",
        "start": RepoStart(str(root), commit),
        "verifier": Verifier(Command("python3 test_calc.py", 60.0), protected=("test_*.py",)),
        **changed,
    }
    task = EvalTask(name=name, **told)
    write_task(task, folder_of(root, name), root)
    return task


def folder_of(root: Path, name: str) -> Path:
    """Return the folder of a task of the suite."""
    return suite_folder(root, SUITE) / TASKS / name


def loaded(bench: Bench, root: Path, *names: str) -> None:
    """Load tasks of the suite as they are in their folders now."""
    for name in names or ("fix-add",):
        place = folder_of(root, name)
        task = read_task(place, root)
        bench.store.suites.load(task, str(root), str(place), bench.clock.now())
