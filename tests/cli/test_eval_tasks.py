"""`eval import`, `list`, `show` and `rm`: tasks that were drafted, edited, and taken off."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.cli.conftest import Command
from tests.sessions.start_state.repo import Repo, repo_in

from fairtrial.model.eval_task import Command as Line
from fairtrial.model.eval_task import EvalTask, RepoStart, TaskStatus, Verifier
from fairtrial.store.opening import open_store
from fairtrial.suites.writing import write_task


@pytest.fixture
def repo(tmp_path: Path, fairtrial: Command, monkeypatch: pytest.MonkeyPatch) -> Repo:
    del fairtrial  # it has made the folder that is left here
    repo = repo_in(tmp_path / "shop")
    repo.write("a.py", "a = 1\n")
    repo.commit()
    monkeypatch.chdir(repo.root)
    return repo


def task_in(repo: Repo, name: str = "fix-a", suite: str = "failures") -> Path:
    """Write a task that is not loaded, and return its folder."""
    start = RepoStart(str(repo.root), repo.git("rev-parse", "HEAD"))
    task = EvalTask(suite, name, "Fix a.\n", start, Verifier(Line("true", 60.0)))
    folder = repo.root / "evals" / suite / "tasks" / name
    write_task(task, folder, repo.root)
    return folder


def validated(digest: str) -> None:
    with open_store(Path(os.environ["FAIRTRIAL_HOME"]), None) as store:
        now = datetime(2026, 11, 29, 12, tzinfo=UTC)
        store.suites.judge(digest, TaskStatus.VALIDATED, {"reason": "all held"}, now)


def test_an_edit_voids_the_validation_and_its_way_back_restores_it(
    fairtrial: Command, repo: Repo
) -> None:
    folder = task_in(repo)
    (first,) = fairtrial("eval", "import", str(folder), "--json").json["tasks"]
    assert (first["change"], first["status"], first["notes"]) == ("new", "draft", [])
    validated(first["digest"])
    assert "fix-a  validated" in fairtrial("eval", "list").out
    shown = fairtrial("eval", "show", "fix-a").out
    assert "failures/fix-a: validated" in shown
    assert "all held" in shown
    (folder / "reference.patch").write_text("--- a/a.py\n")
    assert "edited since it was loaded" in fairtrial("eval", "list").out
    done = fairtrial("eval", "import", "evals/failures/tasks/fix-a")
    assert "reference changed, draft; its validation was of the version before" in done.out
    (folder / "reference.patch").unlink()
    (again,) = fairtrial("eval", "import", str(folder), "--json").json["tasks"]
    assert (again["changed"], again["status"]) == (["reference"], "validated")
    text = (folder / "task.toml").read_text()
    (folder / "task.toml").write_text(text.replace("tags = []", 'tags = ["cart"]'))
    (tagged,) = fairtrial("eval", "import", str(folder), "--json").json["tasks"]
    assert (tagged["changed"], tagged["status"]) == (["tags"], "validated")
    assert not tagged["validation_void"]


def test_a_suite_is_loaded_as_far_as_it_fits(fairtrial: Command, repo: Repo) -> None:
    for name in ("one", "two", "three"):
        task_in(repo, name)
    assert fairtrial("eval", "import", "evals/failures").code == 0
    (repo.root / "evals/failures/tasks/one/task.toml").write_text("[verifier]\ncommand = 1\n")
    (repo.root / "evals/failures/tasks/two/task.toml").unlink()
    done = fairtrial("eval", "import", "evals/failures", "--json")
    assert done.code == 4
    assert [one["name"] for one in done.json["tasks"]] == ["three"]
    (problem,) = done.json["problems"]
    assert "[verifier]" in problem["message"]
    assert done.json["gone"] == ["two"]
    inner = fairtrial("eval", "import", "evals/failures/tasks", "--json").json
    assert (inner["suite"], inner["gone"]) == ("failures", ["two"])
    states = {
        one["name"]: one["state"] for one in fairtrial("eval", "list", "--json").json["tasks"]
    }
    assert states == {"one": "broken", "two": "gone", "three": "loaded"}
    one = fairtrial("eval", "import", "evals/failures/tasks/one")
    assert (one.code, "[verifier]" in one.err) == (64, True)


def test_two_suites_of_one_name_are_two(
    fairtrial: Command, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    fairtrial("eval", "import", str(task_in(repo)))
    other = repo_in(repo.root.parent / "other")
    other.write("b.py", "b\n")
    other.commit()
    assert fairtrial("eval", "import", str(task_in(other, "elsewhere"))).code == 0
    tasks = fairtrial("eval", "list", "--json").json["tasks"]
    assert [one["name"] for one in tasks] == ["fix-a"]
    assert len(fairtrial("eval", "list", "--all", "--json").json["tasks"]) == 2
    assert "failures in" in fairtrial("eval", "list", "--all").out
    monkeypatch.chdir(other.root)
    assert fairtrial("eval", "show", "fix-a").code == 66
    assert fairtrial("eval", "show", "failures/elsewhere").code == 0


def test_a_task_that_is_taken_off_can_be_loaded_again(fairtrial: Command, repo: Repo) -> None:
    folder, second = task_in(repo), task_in(repo, "second")
    fairtrial("eval", "import", "evals/failures")
    assert fairtrial("eval", "show", "failures").code == 66
    done = fairtrial("eval", "rm", "fix-a", "--json").json
    assert (done["tasks"], done["folders"], done["snapshots"]) == (["failures/fix-a"], [], [])
    assert folder.is_dir()
    assert fairtrial("eval", "show", "fix-a").code == 66
    assert "loaded" in fairtrial("eval", "import", str(folder)).out
    done = fairtrial("eval", "rm", "failures", "--files", "--json").json
    assert done["folders"] == [str(folder), str(second)]
    assert not folder.parent.exists()
    assert "No eval task is loaded here" in fairtrial("eval", "list").out


def test_what_is_not_there_is_said(fairtrial: Command, repo: Repo, tmp_path: Path) -> None:
    task_in(repo)
    for words, what in (
        (("import", "nowhere"), "there is no folder"),
        (("import", "."), "there is no task in"),
        (("import", "evals"), "name one suite: evals/failures"),
        (("show", "none"), "no suite and no eval task none"),
        (("list", "none"), "there is no suite none"),
        (("rm", "none"), "no suite and no eval task none"),
    ):
        done = fairtrial("eval", *words)
        assert (done.code, what in done.err) == (66, True), done.err
    assert fairtrial("eval", "rm").code == 64
    outside = tmp_path / "outside"
    (repo.root / "evals/failures/tasks/fix-a").rename(outside)
    moved = repo.root / "elsewhere" / "suite" / "tasks" / "moved"
    moved.parent.mkdir(parents=True)
    outside.rename(moved)
    assert fairtrial("eval", "import", str(moved)).code == 0
    done = fairtrial("eval", "rm", "moved", "--files")
    assert (done.code, "outside of" in done.err, moved.is_dir()) == (64, True, True)
