"""`eval validate`: one line a task, what is kept of it, and what it says of bad input."""

from __future__ import annotations

import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.app.suite_repo import a_repo, a_task, folder_of, loaded
from tests.cli.conftest import Command, process

from fairtrial.app.bench import Bench, bench_here
from fairtrial.model import eval_task
from fairtrial.model.eval_task import TaskStatus, Verifier

REFERENCE = """\
diff --git a/calc.py b/calc.py
--- a/calc.py
+++ b/calc.py
@@ -1,2 +1,2 @@
 def add(a, b):
-    return a - b
+    return a + b
"""
NONE = ("--level", "none", "--k", "2")


@pytest.fixture
def bench(folder: Path) -> Iterator[Bench]:
    commit = a_repo(folder)
    open_to_all = Verifier(eval_task.Command("python3 test_calc.py", 60.0))
    a_task(folder, commit, "good", reference=REFERENCE, tags=("sum",))
    a_task(folder, commit, "loose", reference=REFERENCE, verifier=open_to_all)
    made = bench_here()
    loaded(made, folder, "good", "loose")
    yield made
    made.close()


def statuses(bench: Bench, folder: Path) -> dict[str, TaskStatus]:
    kept = bench.store.suites.tasks(str(folder), "failures")
    return {one.task.name: one.status for one in kept}


def test_a_line_a_task_and_what_it_came_to_is_kept(
    fairtrial: Command, bench: Bench, folder: Path
) -> None:
    done = fairtrial("eval", "validate", "failures", *NONE)
    assert done.code == 1
    lines = done.out.splitlines()
    assert lines[0].startswith("validated  failures/good  k 2, level none, ")
    assert lines[1] == (
        "draft      failures/loose  the verifier passes when test_calc.py always passes "
        '(add "test_calc.py" to protected in [verifier] of task.toml, or put the file into hidden/)'
    )
    assert lines[-1] == "1 of 2 tasks validated"
    assert statuses(bench, folder) == {
        "good": TaskStatus.VALIDATED,
        "loose": TaskStatus.DRAFT,
    }
    shown = fairtrial("eval", "show", "loose")
    assert "the verifier passes when test_calc.py always passes" in shown.out
    assert "validated" in fairtrial("eval", "list").out


def test_what_is_validated_is_checked_again_only_when_asked(
    fairtrial: Command, bench: Bench
) -> None:
    assert fairtrial("eval", "validate", "failures", "--tag", "sum", *NONE).code == 0
    again = fairtrial("eval", "validate", "good", *NONE)
    assert (again.code, "validated before; --again checks it anew" in again.out) == (0, True)
    anew = fairtrial("eval", "validate", "failures/good", "--again", "--json", *NONE)
    (task,) = anew.json["tasks"]
    assert (task["status"], task["earlier"], task["k"], task["level"]) == (
        "validated",
        False,
        2,
        "none",
    )
    assert [check["state"] for check in task["checks"]].count("passed") == 8
    assert bench.home.is_dir()


def test_an_edited_task_is_not_checked(fairtrial: Command, bench: Bench, folder: Path) -> None:
    assert fairtrial("eval", "validate", "good", *NONE).code == 0
    (folder_of(folder, "good") / "instruction.md").write_text("Fix add, please")
    done = fairtrial("eval", "validate", "good", *NONE)
    assert done.code == 1
    load = "fairtrial eval import evals/failures/tasks/good"
    assert f"it was edited since it was loaded (load it with: {load})" in done.out
    assert statuses(bench, folder)["good"] is TaskStatus.VALIDATED  # as it was loaded
    (folder_of(folder, "good") / "task.toml").write_text("[verifier\n")
    broken = fairtrial("eval", "validate", "good", *NONE)
    assert "this is no TOML" in broken.out
    shutil.rmtree(folder_of(folder, "good"))
    gone = fairtrial("eval", "validate", "good", *NONE, "--json")
    assert (gone.code, gone.json["unchecked"]) == (1, 1)
    assert "is gone" in gone.json["tasks"][0]["reason"]


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ((), 64, "no task is named"),
        (("nothing",), 66, "there is no suite and no eval task nothing"),
        (("failures", "--tag", "slow"), 66, "none of these tasks has the tag slow"),
        (("failures", "-k", "0"), 64, "-k"),
        (("failures", "--k", "1000000"), 64, "--k"),
        (("failures", "--level", "vm"), 64, "--level"),
        (("failures", "-c", "0"), 64, "--concurrency"),
    ],
)
def test_bad_input(
    fairtrial: Command, bench: Bench, words: tuple[str, ...], code: int, told: str
) -> None:
    done = fairtrial("eval", "validate", *words)
    assert (done.code, done.out) == (code, "")
    assert told in done.err
    assert bench.home.is_dir()


def test_a_task_without_an_image_costs_no_other(
    fairtrial: Command, bench: Bench, folder: Path
) -> None:
    del bench, folder
    done = fairtrial("eval", "validate", "good", "--level", "image", "--k", "1")
    assert (done.code, "it has no image" in done.out) == (1, True)


def test_without_bwrap_the_level_has_to_be_named(
    fairtrial: Command,
    bench: Bench,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    few = tmp_path / "few"
    few.mkdir()
    for name in ("git", "sh", "python3", "cp"):
        (few / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", str(few))
    done = fairtrial("eval", "validate", "good")
    assert (done.code, done.out) == (64, "")
    assert "level bwrap does not work here" in done.err
    assert "level none" in done.err
    assert statuses(bench, folder)["good"] is TaskStatus.DRAFT


def test_what_was_done_outlasts_an_interrupt(bench: Bench, folder: Path) -> None:
    slow = Verifier(eval_task.Command("touch slow-began; sleep 120", 600.0))
    commit = bench.store.suites.tasks(str(folder), "failures")[0].task.start.commit  # type: ignore[union-attr]
    a_task(folder, str(commit), "slow", reference=REFERENCE, verifier=slow)
    loaded(bench, folder, "slow")
    words = ("eval", "validate", "good", "slow", "-k", "1", "--level", "none", "-c", "4")
    with process(*words, cwd=folder) as running:
        for _ in range(600):
            if statuses(bench, folder)["good"] is TaskStatus.VALIDATED:
                break
            time.sleep(0.1)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert running.returncode == 130, (out, err)
    assert "Traceback" not in err
    assert statuses(bench, folder) == {
        "good": TaskStatus.VALIDATED,
        "loose": TaskStatus.DRAFT,
        "slow": TaskStatus.DRAFT,
    }
    assert not list((bench.home / "workspaces" / "live").glob("*/*"))
