"""The contract of a `SuiteStore`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from fairtrial.model.errors import NotFoundError
from fairtrial.model.eval_task import (
    Command,
    EvalTask,
    FolderStart,
    Origin,
    RepoStart,
    TaskStatus,
    Verifier,
)
from fairtrial.ports.suites import KeptTask, SuiteStore
from fairtrial.testing.store.facts import NOON

LATER = NOON + timedelta(minutes=5)

TASK = EvalTask(
    suite="failures",
    name="fix-ö",
    instruction="Fix “it”.\n\udce4",
    start=RepoStart("/work/repo", "a" * 40, "snap_01", "\udce4", "base-exact", ("x",)),
    verifier=Verifier(
        Command("npm test", 60.0, {"CI": "1"}), None, {"t": b"\0\xff"}, ("t",), ("p",)
    ),
    setup=Command("npm ci", 300.0),
    agent_limit_s=900.0,
    tags=("a", "b"),
    origin=Origin("ses_1", "codex", ("looping",), datetime(2026, 11, 29, 12, tzinfo=UTC)),
    reference="patch",
    near_misses={"session": "x"},
    metadata={"difficulty": "hard"},
)
FOLDER = replace(
    TASK,
    name="folder",
    start=FolderStart({"a": "x12"}, "image:1", "FROM scratch", "/app"),
    verifier=Verifier(None, {"kind": "judge", "criterion": "good"}),
    setup=None,
    origin=None,
    reference=None,
)


class SuiteStoreContract:
    """Subclass it in a test module, name the class `Test…`, and override `suites`."""

    @pytest.fixture
    def suites(self) -> Iterator[SuiteStore]:
        """Give the suites of an empty store."""
        raise NotImplementedError

    @pytest.mark.parametrize("task", [TASK, FOLDER])
    def test_what_is_loaded_is_found(self, suites: SuiteStore, task: EvalTask) -> None:
        kept = suites.load(task, "/work/repo", "/work/repo/evals/x", NOON)
        assert kept == KeptTask(task, "/work/repo", "/work/repo/evals/x", NOON)
        assert suites.find("/work/repo", f"failures/{task.name}") == [kept]
        assert suites.find("/work/repo", task.name) == [kept]
        assert suites.find("/work/repo", "failures") == [kept]
        assert suites.tasks("/work/repo", "failures") == [kept]
        assert suites.version(task.digest) == task

    def test_a_large_task_is_kept(self, suites: SuiteStore) -> None:
        hidden = {"t": bytes(range(256)) * 1000}
        large = replace(TASK, verifier=replace(TASK.verifier, hidden=hidden))
        suites.load(large, "/work", "/f", NOON)
        assert suites.version(large.digest) == large

    def test_tasks_stand_in_order_each_in_its_project(self, suites: SuiteStore) -> None:
        for project, suite, name in [("/b", "s", "x"), ("/a", "s", "b"), ("/a", "s", "a")]:
            suites.load(replace(TASK, suite=suite, name=name), project, "/f", NOON)
        assert [kept.task.name for kept in suites.tasks("/a", "s")] == ["a", "b"]
        assert suites.suites() == [("/a", "s"), ("/b", "s")]
        assert suites.suites("/b") == [("/b", "s")]
        assert suites.tasks("/c", "s") == []

    def test_loading_again_replaces_and_keeps_old_versions(self, suites: SuiteStore) -> None:
        suites.load(TASK, "/work", "/f", NOON)
        changed = replace(TASK, instruction="Other")
        kept = suites.load(changed, "/work", "/g", LATER)
        assert suites.tasks("/work", "failures") == [kept]
        assert suites.version(TASK.digest) == TASK
        assert suites.version(changed.digest) == changed

    def test_facts_that_the_digest_leaves_out_are_the_newest(self, suites: SuiteStore) -> None:
        suites.load(TASK, "/work", "/f", NOON)
        retagged = replace(TASK, tags=("c",), metadata={}, origin=None)
        suites.load(retagged, "/work", "/f", LATER)
        assert suites.find("/work", TASK.name)[0].task == retagged

    def test_a_validation_belongs_to_its_version(self, suites: SuiteStore) -> None:
        suites.load(TASK, "/work", "/f", NOON)
        suites.judge(TASK.digest, TaskStatus.VALIDATED, {"checks": ["ö"]}, LATER)
        kept = suites.find("/work", TASK.name)[0]
        assert (kept.status, kept.validation) == (TaskStatus.VALIDATED, {"checks": ["ö"]})
        assert kept.validated_at == LATER
        changed = replace(TASK, instruction="Other")
        assert suites.load(changed, "/work", "/f", LATER).status is TaskStatus.DRAFT
        assert suites.load(TASK, "/work", "/f", LATER).status is TaskStatus.VALIDATED

    def test_a_name_of_several_suites_is_asked_about(self, suites: SuiteStore) -> None:
        suites.load(TASK, "/work", "/f", NOON)
        suites.load(replace(TASK, suite="other"), "/work", "/f", NOON)
        with pytest.raises(NotFoundError, match="several suites") as caught:
            suites.find("/work", TASK.name)
        assert f"failures/{TASK.name}, other/{TASK.name}" in str(caught.value.fix)

    def test_the_folder_of_the_newest_version_is_told(self, suites: SuiteStore) -> None:
        suites.load(TASK, "/work", "/f", NOON)
        suites.load(TASK, "/other", "/g", LATER)
        assert suites.folder(TASK.digest) == "/g"
        assert suites.folder("0" * 64) is None

    def test_what_is_forgotten_is_not_found_but_its_version_stays(self, suites: SuiteStore) -> None:
        suites.load(TASK, "/work", "/f", NOON)
        suites.forget("/work", "failures", TASK.name)
        assert suites.suites() == []
        assert suites.version(TASK.digest) == TASK
        with pytest.raises(NotFoundError):
            suites.forget("/work", "failures", TASK.name)

    def test_what_is_not_there_is_not_found(self, suites: SuiteStore) -> None:
        with pytest.raises(NotFoundError, match="there is no suite"):
            suites.find("/work", "x")
        with pytest.raises(NotFoundError, match="digest"):
            suites.version("0" * 64)
        with pytest.raises(NotFoundError, match="digest"):
            suites.judge("0" * 64, TaskStatus.DRAFT, {}, NOON)
