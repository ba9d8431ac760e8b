"""Which tasks a command names, and that what runs is what their folders hold."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.app.suite_repo import a_repo, a_task, folder_of, loaded

from fairtrial.app.bench import Bench, bench_here
from fairtrial.app.eval_suites import chosen_tasks, edited, suite_version
from fairtrial.model.errors import NotFoundError, UsageError


@pytest.fixture
def bench(folder: Path) -> Iterator[Bench]:
    commit = a_repo(folder)
    a_task(folder, commit, "a", tags=("fast",))
    a_task(folder, commit, "b")
    made = bench_here()
    loaded(made, folder, "a", "b")
    yield made
    made.close()


def test_a_suite_is_all_its_tasks(bench: Bench) -> None:
    chosen = chosen_tasks(bench, ["failures"])
    assert [kept.task.name for kept in chosen.tasks] == ["a", "b"]
    assert (chosen.suite, chosen.whole, chosen.notes) == ("failures", True, ())


def test_a_task_is_named_with_or_without_its_suite_or_by_a_tag(bench: Bench) -> None:
    for refs, tags in ((["a"], ()), (["failures/a"], ()), (["failures", "a"], ("fast",))):
        chosen = chosen_tasks(bench, refs, tags)
        assert [kept.task.name for kept in chosen.tasks] == ["a"]
        assert not chosen.whole
    with pytest.raises(NotFoundError, match="no task of failures has the tag slow"):
        chosen_tasks(bench, ["failures"], ["slow"])
    with pytest.raises(NotFoundError, match="nothing"):
        chosen_tasks(bench, ["nothing"])
    with pytest.raises(UsageError, match="no task is named"):
        chosen_tasks(bench, [])


def test_a_task_that_was_edited_since_it_was_loaded_is_refused(bench: Bench, folder: Path) -> None:
    (folder_of(folder, "b") / "instruction.md").write_text("Fix add, please")
    with pytest.raises(UsageError, match="edited since it was loaded: b") as error:
        chosen_tasks(bench, ["failures"])
    assert "fairtrial eval import evals/failures/tasks/b" in str(error.value.fix)
    assert [kept.task.name for kept in chosen_tasks(bench, ["a"]).tasks] == ["a"]
    assert [edited(kept) for kept in bench.store.suites.tasks(str(folder), "failures")] == [
        False,
        True,
    ]
    loaded(bench, folder, "b")
    assert len(chosen_tasks(bench, ["failures"]).tasks) == 2


def test_what_is_gone_or_was_never_loaded_is_told(bench: Bench, folder: Path) -> None:
    shutil.copytree(folder_of(folder, "a"), folder_of(folder, "c"))
    (note,) = chosen_tasks(bench, ["failures"]).notes
    assert note.startswith("c is left out: it was never loaded")
    shutil.rmtree(folder_of(folder, "a"))
    chosen = chosen_tasks(bench, ["failures"])
    assert [kept.task.name for kept in chosen.tasks] == ["b"]
    assert not chosen.whole
    assert chosen.notes[0].startswith("a is left out: its folder ")
    with pytest.raises(NotFoundError, match="is gone"):
        chosen_tasks(bench, ["a"])


def test_runs_of_some_tasks_share_the_dataset_of_all(bench: Bench) -> None:
    whole = suite_version(bench, "failures", chosen_tasks(bench, ["failures"]).tasks)
    part = suite_version(bench, "failures", chosen_tasks(bench, ["a"]).tasks)
    assert whole == part
    assert (whole.ref, whole.n_cases) == ("evals/failures@1", 2)
