"""An instance of SWE-bench on a real clone: what is hidden, and what its verifier says."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.suites.shop import workshop

from fairtrial.graders.verifier import Verification, Verifying
from fairtrial.interchange.eval_tasks.swe_bench import Instance
from fairtrial.model.errors import UsageError
from fairtrial.model.eval_task import Command, EvalTask, RepoStart
from fairtrial.model.isolation import Level
from fairtrial.suites.swe_bench import clone_of, task_of

OLD_TEST = "from calc import add\n\n\ndef test_old():\n    assert add(0, 0) == 0\n"
NEW_TEST = OLD_TEST + "\n\ndef test_new():\n    assert add(1, 2) == 3\n"


def git(repo: Path, *words: str) -> str:
    who = ["-c", "user.name=A", "-c", "user.email=a@x"]
    done = subprocess.run(
        ["git", *who, *words], cwd=repo, check=True, capture_output=True, text=True
    )
    return done.stdout


def changed(repo: Path, file: str, text: str) -> str:
    """Return a change of one file as a patch; the file stays as it was."""
    before = (repo / file).read_text()
    (repo / file).write_text(text)
    patch = git(repo, "diff", "--", file)
    (repo / file).write_text(before)
    return patch


@pytest.fixture
def repos(tmp_path: Path) -> Path:
    repo = tmp_path / "repos" / "calc"
    repo.mkdir(parents=True)
    (repo / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    (repo / "test_calc.py").write_text(OLD_TEST)
    git(repo, "init", "-q")
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "x")
    return repo.parent


def an_instance(repos: Path) -> Instance:
    repo = repos / "calc"
    return Instance(
        id="org__calc-1",
        repo="org/calc",
        commit=git(repo, "rev-parse", "HEAD").strip(),
        problem="add() subtracts.",
        patch=changed(repo, "calc.py", "def add(a, b):\n    return a + b\n"),
        test_patch=changed(repo, "test_calc.py", NEW_TEST),
        fail_to_pass=("test_calc.py::test_new",),
        pass_to_pass=("test_calc.py::test_old",),
        facts={},
    )


def a_task(repos: Path, instance: Instance) -> EvalTask:
    task = task_of(instance, clone_of(repos, instance.repo), os.environ).task
    command = task.verifier.command
    assert command is not None
    line = command.line.replace("python", sys.executable, 1)
    return replace(task, suite="s", verifier=replace(task.verifier, command=Command(line, 60.0)))


def verified(tmp_path: Path, task: EvalTask, patch: str) -> Verification:
    async def run() -> Verification:
        async with workshop(tmp_path / "home", task) as (shop, _):
            return await Verifying(shop, os.environ, Level.NONE).verified(task, patch.encode())

    return asyncio.run(run())


def test_both_lists_are_checked(repos: Path, tmp_path: Path) -> None:
    instance = an_instance(repos)
    objects = sorted(repos.rglob("*"))
    task = a_task(repos, instance)
    assert sorted(repos.rglob("*")) == objects  # the clone is as it was
    assert isinstance(task.start, RepoStart)
    assert task.verifier.hidden["test_calc.py"] == NEW_TEST.encode()
    nothing = verified(tmp_path, task, "")
    assert nothing.value == 0.0
    assert "not passed: test_calc.py::test_new" in str(nothing.detail["stdout"])
    assert task.reference is not None
    assert verified(tmp_path, task, task.reference).value == 1.0
    breaks = changed(repos / "calc", "calc.py", "def add(a, b):\n    return 3\n")
    broken = verified(tmp_path, task, breaks)
    assert broken.value == 0.0
    assert "not passed: test_calc.py::test_old" in str(broken.detail["stdout"])


def test_a_skipped_test_has_not_passed(repos: Path, tmp_path: Path) -> None:
    text = NEW_TEST.replace("def test_new", "import pytest\n@pytest.mark.skip\ndef test_new")
    patch = changed(repos / "calc", "test_calc.py", text)
    task = a_task(repos, replace(an_instance(repos), test_patch=patch))
    assert task.reference is not None
    assert verified(tmp_path, task, task.reference).value == 0.0


def test_what_is_not_there_is_told(repos: Path) -> None:
    instance = an_instance(repos)
    clone = clone_of(repos, "org/calc")
    with pytest.raises(UsageError, match="no clone of org/other"):
        clone_of(repos, "org/other")
    for odd in ("../..", "org/..", "calc", "org/a/b", "/etc"):
        with pytest.raises(UsageError, match="no clone"):
            clone_of(repos, odd)
    with pytest.raises(UsageError, match="is not in the clone"):
        task_of(replace(instance, commit="0" * 40), clone, os.environ)
    with pytest.raises(UsageError, match=r"org__calc-1"):
        task_of(
            replace(instance, test_patch="--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"),
            clone,
            os.environ,
        )


def test_a_file_that_the_tests_remove_is_told(repos: Path) -> None:
    repo = repos / "calc"
    (repo / "old_test.py").write_text("x\n")
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "y")
    (repo / "old_test.py").unlink()
    (repo / "test_calc.py").write_text(NEW_TEST)
    patch = git(repo, "diff")
    git(repo, "checkout", "-q", "--", ".")
    instance = replace(
        an_instance(repos), test_patch=patch, commit=git(repo, "rev-parse", "HEAD").strip()
    )
    found = task_of(instance, repo, os.environ)
    assert "old_test.py" in found.lost[0]
