"""The verifier: in a clean copy, hidden files put there, protected ones put back."""

from __future__ import annotations

import asyncio
import base64
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.suites.shop import a_repo, a_task, workshop
from tests.workspaces.levels import needs_bwrap

from fairtrial.graders.registry import build_grader, grader_spec
from fairtrial.graders.verifier import reward_in
from fairtrial.model.case import Case
from fairtrial.model.errors import GraderError, UsageError
from fairtrial.model.eval_task import Command, EvalTask, Verifier
from fairtrial.model.grader import Grade, Subject
from fairtrial.model.json import Json
from fairtrial.ports import Surroundings
from fairtrial.workspaces.host.client import HostWorkspace

TO_B = """\
diff --git a/a.txt b/a.txt
--- a/a.txt
+++ b/a.txt
@@ -1 +1 @@
-a
+b
"""
NEW_TEST = """\
diff --git a/test.sh b/test.sh
new file mode 100755
--- /dev/null
+++ b/test.sh
@@ -0,0 +1 @@
+exit 0
"""
NONE = {"level": "none"}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return a_repo(tmp_path / "repo")


def graded(tmp_path: Path, task: EvalTask, output: Json, level: str | None = "none") -> Grade:
    told = {"kind": "verifier"} if level is None else {"kind": "verifier", "level": level}
    spec = grader_spec(told, "test")
    case = Case("t", task.instruction, metadata={"eval_task": task.digest})

    async def work() -> Grade:
        async with workshop(tmp_path / "store", task) as (shop, programs):
            around = Surroundings(tmp_path, os.environ, programs, evals=shop)
            grader = build_grader(spec, around, "test")
            await grader.open()
            try:
                return await grader.grade(Subject(case, output, 1))
            finally:
                await grader.close()

    return asyncio.run(work())


def verified_by(line: str, **more: Any) -> dict[str, Any]:
    limit = more.pop("limit", 60.0)
    return {"verifier": Verifier(Command(line, limit), **more)}


def test_a_change_is_verified_in_a_clean_copy(repo: Path, tmp_path: Path) -> None:
    task = a_task(repo, **verified_by("grep b a.txt && git status --porcelain"))
    grade = graded(tmp_path, task, {"patch": TO_B})
    assert (grade.value, grade.reason) == (1.0, "the verifier passed")
    assert isinstance(grade.detail, dict)
    assert grade.detail["exit_status"] == 0
    assert grade.detail["stdout"] == "b\n M a.txt\n"
    assert grade.detail["isolation"]["level"] == "none"


def test_no_change_fails(repo: Path, tmp_path: Path) -> None:
    grade = graded(tmp_path, a_task(repo, **verified_by("grep b a.txt")), {"patch": ""})
    assert (grade.value, grade.reason) == (0.0, "the verifier failed: exit status 1")


def test_what_is_not_utf_8_is_verified(repo: Path, tmp_path: Path) -> None:
    patch = TO_B.encode().replace(b"+b", b"+\xe4")
    task = a_task(repo, **verified_by("test \"$(od -An -tx1 a.txt | tr -d ' ')\" = e40a"))
    output = {"patch_base64": base64.b64encode(patch).decode()}
    assert graded(tmp_path, task, output).value == 1.0


def test_hidden_files_are_there_and_the_agent_s_own_are_not(repo: Path, tmp_path: Path) -> None:
    hidden = {"test.sh": b"grep b a.txt"}
    task = a_task(repo, **verified_by("sh test.sh", hidden=hidden))
    assert graded(tmp_path, task, {"patch": NEW_TEST}).value == 0.0
    assert graded(tmp_path, task, {"patch": NEW_TEST + TO_B}).value == 1.0


def test_protected_files_are_put_back(repo: Path, tmp_path: Path) -> None:
    loose = a_task(repo, **verified_by("grep b a.txt"))
    held = a_task(repo, **verified_by("grep b a.txt", protected=("*.txt",)))
    assert graded(tmp_path, loose, {"patch": TO_B}).value == 1.0
    assert graded(tmp_path, held, {"patch": TO_B}).value == 0.0


def test_a_folder_in_place_of_a_protected_file_is_no_part_of_the_change(
    repo: Path, tmp_path: Path
) -> None:
    task = a_task(repo, **verified_by("grep a a.txt", protected=("a.txt",)))
    patch = NEW_TEST.replace("test.sh", "a.txt/test.sh")
    assert graded(tmp_path, task, {"patch": patch}).value == 1.0


@needs_bwrap
def test_what_an_agent_changed_in_an_image_of_its_own_is_verified_without(
    repo: Path, tmp_path: Path
) -> None:
    task = a_task(repo, **verified_by("grep b a.txt"))
    output = {"patch": TO_B, "isolation": {"level": "image", "image": "agents-own"}}
    grade = graded(tmp_path, task, output, None)
    assert grade.value == 1.0
    assert isinstance(grade.detail, dict)
    assert grade.detail["isolation"]["level"] == "bwrap"
    with pytest.raises(GraderError, match="has no image"):
        graded(tmp_path, task, output, "image")


def test_a_variable_that_is_not_set_is_told(repo: Path, tmp_path: Path) -> None:
    task = a_task(repo)
    command = Command("true", 60.0, {"A": "${NOT_SET_ANYWHERE}"})
    task = replace(task, verifier=Verifier(command))
    with pytest.raises(GraderError, match="NOT_SET_ANYWHERE"):
        graded(tmp_path, task, {"patch": ""})


def test_the_harness_of_an_arm_is_no_part_of_the_change(repo: Path, tmp_path: Path) -> None:
    task = a_task(repo, **verified_by("grep b a.txt"))
    output = {"patch": TO_B, "harness_files": ["a.txt"]}
    assert graded(tmp_path, task, output).value == 0.0


@pytest.mark.parametrize(
    ("line", "value", "reason"),
    [
        ("echo 0.25 > $FAIRTRIAL_REWARD_FILE; exit 1", 0.25, "the reward 0.25"),
        ("echo '{\"reward\": 1}' > $FAIRTRIAL_REWARD_FILE", 1.0, "the reward 1"),
        ("echo lots > $FAIRTRIAL_REWARD_FILE", 0.0, "no number from 0 to 1"),
        ("echo 2 > $FAIRTRIAL_REWARD_FILE", 0.0, "no number from 0 to 1"),
        ("echo told >&2; exit 7", 0.0, "exit status 7: told"),
        ("kill -9 $$", 0.0, "SIGKILL"),
    ],
)
def test_what_it_says_is_its_reward_or_its_exit_status(
    repo: Path, tmp_path: Path, line: str, value: float, reason: str
) -> None:
    grade = graded(tmp_path, a_task(repo, **verified_by(line)), {"patch": ""})
    assert grade.value == value
    assert reason in str(grade.reason)


def test_one_that_does_not_end_fails(repo: Path, tmp_path: Path) -> None:
    task = a_task(repo, **verified_by("sleep 60", limit=0.3))
    grade = graded(tmp_path, task, {"patch": ""})
    assert (grade.value, grade.reason) == (0.0, "the verifier ran over its limit of 0.3 s")


def test_a_patch_of_something_else_is_no_verdict(repo: Path, tmp_path: Path) -> None:
    task = a_task(repo, **verified_by("true"))
    with pytest.raises(GraderError, match="could not be run"):
        graded(tmp_path, task, {"patch": TO_B.replace("-a", "-zzz")})


@pytest.mark.parametrize("output", [None, "text", {}, {"patch": 3}, {"patch_base64": "?"}])
def test_an_output_without_a_change_is_no_verdict(repo: Path, tmp_path: Path, output: Json) -> None:
    with pytest.raises(GraderError, match="holds no patch"):
        graded(tmp_path, a_task(repo), output)


def test_a_judge_may_verify(repo: Path, tmp_path: Path) -> None:
    judge: Mapping[str, Json] = {"kind": "judge", "rubric": "Is it b?", "provider": "fake"}
    task = replace(a_task(repo), verifier=Verifier(judge=judge))
    grade = graded(tmp_path, task, {"patch": TO_B, "answer": "done"})
    assert grade.value is not None


def test_a_case_that_is_no_eval_task_is_no_verdict(repo: Path, tmp_path: Path) -> None:
    async def work() -> None:
        async with workshop(tmp_path / "store", a_task(repo)) as (shop, programs):
            around = Surroundings(tmp_path, os.environ, programs, evals=shop)
            grader = build_grader(grader_spec("verifier", "test"), around, "test")
            await grader.grade(Subject(Case("c", 1), {"patch": ""}, 1))

    with pytest.raises(GraderError, match="case c is no eval task"):
        asyncio.run(work())


def test_without_eval_tasks_it_cannot_be_built(tmp_path: Path) -> None:
    around = Surroundings(tmp_path, os.environ, HostWorkspace(slots=1))
    with pytest.raises(UsageError, match="none can be run here"):
        build_grader(grader_spec("verifier", "test"), around, "test")


@pytest.mark.parametrize(
    ("data", "reward"),
    [
        (b"0.5", 0.5),
        (b' {"reward": 0.5, "other": 1} ', 0.5),
        (b"true", None),
        (b"NaN", None),
        (b"-1", None),
        (b"", None),
        (b"[1]", None),
        (b"\xff", None),
    ],
)
def test_a_reward_is_a_number_from_0_to_1(data: bytes, reward: float | None) -> None:
    assert reward_in(data) == reward
