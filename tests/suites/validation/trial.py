"""Validates a task of a small repository, with all parts but the store's being those of a run."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.suites.shop import a_task, workshop

from fairtrial.model.eval_task import Command, EvalTask, Verifier
from fairtrial.model.isolation import Level
from fairtrial.ports import Surroundings
from fairtrial.suites.validation.findings import Check, Checked, State, Validation
from fairtrial.suites.validation.trying import Trying
from fairtrial.suites.validation.validating import validated

FILES = {
    "calc.py": "def add(a, b):\n    return a - b\n",
    "check.py": "from calc import add\n\nassert add(2, 3) == 5\nassert add(4, 4) == 8\n",
}
REFERENCE = """\
diff --git a/calc.py b/calc.py
--- a/calc.py
+++ b/calc.py
@@ -1,2 +1,2 @@
 def add(a, b):
-    return a - b
+    return a + b
"""
FIVE = REFERENCE.replace("a + b", "5")
CHECKED = Verifier(Command("python3 check.py", 60.0), protected=("check.py",))


def a_repo(folder: Path, files: Mapping[str, str] = FILES) -> Path:
    """Make a repository of one commit."""
    folder.mkdir()
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    who = ("-c", "user.name=A", "-c", "user.email=a@x")
    for words in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-q", "-m", "start")):
        subprocess.run(["git", *who, *words], cwd=folder, check=True)
    return folder


def a_good_task(repo: Path, **changed: Any) -> EvalTask:
    """Return a task that validates, or one that differs from it."""
    told = {"verifier": CHECKED, "reference": REFERENCE, "near_misses": {"five": FIVE}}
    return a_task(repo, **{"instruction": "Fix add in calc.py", **told, **changed})


def validation_of(
    home: Path,
    task: EvalTask,
    *,
    k: int = 2,
    level: Level | None = Level.NONE,
    folder: str = "/no/such/folder",
    told: Callable[[float | None], None] = lambda _: None,
    files: Path | None = None,
) -> Validation:
    """Return what the validation of a task comes to."""

    async def work() -> Validation:
        async with workshop(home, task, files=files) as (shop, programs):
            around = Surroundings(home, os.environ, programs, evals=shop)
            gate = asyncio.Semaphore(4)
            trying = Trying(task, k, level, around, shop, gate, told)
            return await validated(trying, folder, lambda: 0.0)

    return asyncio.run(work())


def of(validation: Validation, check: Check) -> Checked:
    """Return what came of one check."""
    return next(checked for checked in validation.checks if checked.check is check)


def failed(validation: Validation) -> list[Check]:
    """Return the checks that failed."""
    return [checked.check for checked in validation.checks if checked.state is State.FAILED]


def verified_by(line: str, **more: Any) -> dict[str, Any]:
    """Return the part of a task that says what verifies it."""
    return {"verifier": replace(Verifier(Command(line, more.pop("limit", 60.0))), **more)}
