"""Tasks of other tools: loaded, written back, validated and run in their image."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tests.cli.conftest import Command
from tests.interchange.eval_tasks.instances import an_instance
from tests.sessions.start_state.repo import Repo, repo_in
from tests.suites.harbor_folders import harbor_task

from fairtrial.model.eval_task import Command as Line
from fairtrial.model.eval_task import EvalTask, RepoStart, Verifier
from fairtrial.suites.folders import read_task
from fairtrial.suites.writing import write_task

PATCH = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a = 1\n+a = 2\n"


@pytest.fixture
def repo(tmp_path: Path, fairtrial: Command, monkeypatch: pytest.MonkeyPatch) -> Repo:
    del fairtrial  # it has made the folder that is left here
    repo = repo_in(tmp_path / "shop")
    repo.write("a.py", "a = 1\n")
    repo.write("test_a.py", "assert True\n")
    repo.commit()
    monkeypatch.chdir(repo.root)
    return repo


def own_task(repo: Repo) -> Path:
    """Write a task of this repository with all that a folder can say."""
    start = RepoStart(str(repo.root), repo.git("rev-parse", "HEAD"))
    verifier = Verifier(
        Line("grep -q 2 a.py && grep -q hidden check.txt", 60.0, {"CI": "1"}),
        None,
        {"check.txt": b"hidden\n"},
        (),
        ("test_*.py",),
    )
    task = EvalTask(
        "failures", "fix-a", "Fix a.\n", start, verifier, Line("true", 30.0),
        reference=PATCH, near_misses={"session": PATCH.replace("2", "3")}, tags=("x",),
    )  # fmt: skip
    folder = repo.root / "evals" / "failures" / "tasks" / "fix-a"
    write_task(task, folder, repo.root)
    return folder


def test_a_folder_of_harbor_s_tasks_becomes_a_suite(
    fairtrial: Command, repo: Repo, tmp_path: Path
) -> None:
    tasks = tmp_path / "greetings"
    harbor_task(tasks / "hello", "base:1")
    harbor_task(tasks / "bad", "base:1", **{"tests/test.sh": None})
    (tasks / "README.md").write_text("not a task")
    done = fairtrial("eval", "import", str(tasks))
    assert done.code == 4
    assert "greetings/hello: loaded, draft" in done.out
    assert "its disk is not limited" in done.out
    assert "not loaded: bad" in done.out
    assert "there is no tests/test.sh" in done.out
    folder = repo.root / "evals" / "greetings" / "tasks" / "hello"
    assert (folder / "tests" / "test.sh").is_file()
    assert (folder / "environment" / "greeting.txt").read_text() == "hi\n"
    again = fairtrial("eval", "import", str(tasks / "hello"), "--suite", "greetings")
    assert (again.code, "hello: unchanged, draft" in again.out) == (0, True)
    (folder / "instruction.md").write_text("Edited.\n")
    refused = fairtrial("eval", "import", str(tasks / "hello"))
    assert refused.code == 4
    assert "may have been edited" in refused.out
    own = fairtrial("eval", "import", "evals/greetings/tasks/hello")
    assert "instruction changed" in own.out


def test_what_is_exported_is_loaded_as_the_same_task(
    fairtrial: Command, repo: Repo, tmp_path: Path
) -> None:
    folder = own_task(repo)
    assert fairtrial("eval", "import", str(folder)).code == 0
    out = tmp_path / "out"
    words = ("eval", "export", "failures", "--to", "harbor", "-o", str(out))
    without = fairtrial(*words)
    assert without.code == 4
    assert "--base-image" in without.out
    done = fairtrial(*words, "--base-image", "python:3.12", "--json").json
    (told,) = done["tasks"]
    assert any("near misses" in lost for lost in told["lost"])
    again = read_task(out / "fix-a", repo.root)
    assert again.digest == read_task(folder, repo.root).digest == told["digest"]
    whole = fairtrial("eval", "import", str(out), "--json").json
    assert [(one["name"], one["digest"]) for one in whole["tasks"]] == [("fix-a", again.digest)]
    dockerfile = (out / "fix-a" / "environment" / "Dockerfile").read_text()
    assert "FROM python:3.12\nWORKDIR /workspace\n" in dockerfile
    workspace = out / "fix-a" / "environment" / "workspace"
    assert (workspace / "a.py").read_text() == "a = 1\n"
    assert not (workspace / "check.txt").exists()
    twice = fairtrial(*words, "--base-image", "python:3.12")
    assert (twice.code, "is there already" in twice.out) == (4, True)


def test_the_scripts_of_an_exported_task_say_what_its_verifier_says(
    fairtrial: Command, repo: Repo, tmp_path: Path
) -> None:
    """As Harbor runs them, but for where /tests, /solution and /logs lie."""
    assert fairtrial("eval", "import", str(own_task(repo))).code == 0
    out = tmp_path / "out"
    words = ("--to", "harbor", "-o", str(out), "--base-image", "x")
    assert fairtrial("eval", "export", "fix-a", *words).code == 0
    folder = out / "fix-a"
    workspace = folder / "environment" / "workspace"

    def ran(script: Path) -> None:
        text = script.read_text().replace("/tests", str(folder / "tests"))
        text = text.replace("/solution", str(folder / "solution"))
        text = text.replace("/logs", str(tmp_path / "logs"))
        text = text.replace("/tmp/fairtrial-reward", str(tmp_path / "reward"))  # noqa: S108
        subprocess.run(["sh", "-c", text], cwd=workspace, check=False)

    reward = tmp_path / "logs" / "verifier" / "reward.txt"
    (workspace / "test_a.py").write_text("cheated")
    ran(folder / "tests" / "test.sh")
    assert reward.read_text() == "0\n"
    assert (workspace / "test_a.py").read_text() == "assert True\n"
    ran(folder / "solution" / "solve.sh")
    ran(folder / "tests" / "test.sh")
    assert reward.read_text() == "1\n"


def test_a_task_of_harbor_comes_back_as_it_was(
    fairtrial: Command, repo: Repo, tmp_path: Path
) -> None:
    del repo
    harbor_task(tmp_path / "greetings" / "hello", "base:1")
    (first,) = fairtrial("eval", "import", str(tmp_path / "greetings"), "--json").json["tasks"]
    out = tmp_path / "out"
    done = fairtrial("eval", "export", "hello", "--to", "harbor", "-o", str(out), "--json").json
    assert done["tasks"][0]["lost"] == []
    words = ("eval", "import", str(out / "hello"), "--suite", "again", "--json")
    (again,) = fairtrial(*words).json["tasks"]
    assert again["digest"] == first["digest"]


def test_instances_of_swe_bench_need_their_clones(
    fairtrial: Command, repo: Repo, tmp_path: Path
) -> None:
    file = tmp_path / "verified.jsonl"
    head = repo.git("rev-parse", "HEAD")
    patch = PATCH.replace("a.py", "test_new.py").replace("--- a/test_new.py", "--- /dev/null")
    patch = patch.replace("@@ -1 +1 @@\n-a = 1\n+a = 2", "@@ -0,0 +1 @@\n+a = 2")
    good = an_instance(repo="org/shop", base_commit=head, test_patch=patch, patch=PATCH)
    lost = [an_instance(instance_id=f"x-{number}", repo="x/y") for number in range(1000)]
    file.write_text("\n".join(json.dumps(one) for one in [good, *lost]))
    done = fairtrial("eval", "import", str(file))
    assert (done.code, "--repos DIR" in done.err) == (64, True)
    done = fairtrial("eval", "import", str(file), "--repos", str(tmp_path / "none"))
    assert done.code == 66
    done = fairtrial("eval", "import", str(file), "--repos", str(tmp_path), "--suite", "swe")
    assert done.code == 4
    assert "swe/a__b-1: loaded, draft" in done.out
    assert "x-0 and 999 more" in done.out
    assert "there is no clone of x/y" in done.out
    task = read_task(repo.root / "evals" / "swe" / "tasks" / "a__b-1", repo.root)
    assert task.verifier.hidden["test_new.py"] == b"a = 2\n"


def test_options_that_have_no_effect_are_refused(fairtrial: Command, repo: Repo) -> None:
    folder = own_task(repo)
    for words in (("--suite", "x"), ("--repos", ".")):
        done = fairtrial("eval", "import", str(folder), *words)
        assert (done.code, "has no effect" in done.err) == (64, True)


def test_a_task_in_an_image_is_validated_and_run(
    fairtrial: Command, repo: Repo, image: str, tmp_path: Path
) -> None:
    del repo
    harbor_task(tmp_path / "greetings" / "hello", image)
    assert fairtrial("eval", "import", str(tmp_path / "greetings")).code == 0
    done = fairtrial("eval", "validate", "hello", "--k", "2")
    assert "hello" in done.out
    assert "validated" in done.out, done.out
    work = "cat > /tmp/said; echo 'Hello, world!' > hello.txt; test -f /app/built.txt"
    words = ("--agent", "command", "--command", work, "--trials", "1", "--yes", "--json")
    ran = fairtrial("eval", "run", "greetings", *words)
    assert ran.code == 0, ran.err
    assert '"level": "image"' in ran.out or "image" in ran.out
