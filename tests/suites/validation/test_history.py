"""What of a workspace's repository leads beyond its start."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.suites.validation.trial import a_good_task, a_repo

from fairtrial.model.eval_task import EvalTask, FolderStart
from fairtrial.suites.validation.findings import Checked, State
from fairtrial.suites.validation.history import check_history

PATH = {"PATH": os.environ["PATH"]}


@pytest.fixture
def task(tmp_path: Path) -> EvalTask:
    return a_good_task(a_repo(tmp_path / "repo"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = a_repo(tmp_path / "workspace", {"a.txt": "a\n"})
    (root / ".git" / "logs" / "HEAD").unlink()
    (root / ".git" / "logs" / "refs" / "heads" / "main").unlink()
    return root


def git(root: Path, *words: str) -> None:
    who = ("-c", "user.name=A", "-c", "user.email=a@x", "-c", "core.logAllRefUpdates=false")
    subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)


def later(root: Path) -> None:
    git(root, "commit", "-q", "--allow-empty", "-m", "later")


def texts(checked: Checked) -> list[str]:
    return [finding.text for finding in checked.problems]


def test_one_commit_is_as_it_should_be(task: EvalTask, root: Path) -> None:
    checked = check_history(task, root, PATH)
    assert (checked.state, checked.facts) == (State.PASSED, {"repositories": 1, "commits": 1})


def test_earlier_commits_are_no_secret(task: EvalTask, root: Path) -> None:
    later(root)
    git(root, "branch", "old", "HEAD^")
    git(root, "pack-refs", "--all")
    assert texts(check_history(task, root, PATH)) == []
    git(root, "checkout", "-q", "--detach")
    assert texts(check_history(task, root, PATH)) == []


def _branch(root: Path) -> None:
    git(root, "checkout", "-q", "-b", "next")
    later(root)
    git(root, "checkout", "-q", "main")


def _packed(root: Path) -> None:
    _branch(root)
    git(root, "pack-refs", "--all")


def _stash(root: Path) -> None:
    (root / "a.txt").write_text("b\n")
    git(root, "stash", "-q")


def _remote(root: Path) -> None:
    git(root, "remote", "add", "origin", "https://example.com/x.git")


def _remote_branch(root: Path) -> None:
    git(root, "update-ref", "refs/remotes/origin/main", "HEAD")


def _unreachable(root: Path) -> None:
    later(root)
    git(root, "reset", "-q", "--hard", "HEAD^")
    (root / ".git" / "ORIG_HEAD").unlink()


def _written(name: str) -> Callable[[Path], None]:
    def write(root: Path) -> None:
        path = root / ".git" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")

    return write


def _worktree(root: Path) -> None:
    git(root, "worktree", "add", "-q", "../other")


@pytest.mark.parametrize(
    ("put", "told"),
    [
        (_branch, "the branch next is there"),
        (_packed, "the branch next is there"),
        (_stash, "the stash stash is there"),
        (lambda root: git(root, "tag", "v2"), "the tag v2 is there"),
        (lambda root: git(root, "notes", "add", "-m", "x"), "the notes commits is there"),
        (_remote, "the remote origin is there"),
        (_remote_branch, "the remote branch origin/main is there"),
        (_unreachable, "1 commit that HEAD does not lead to can be read from .git: "),
        (_written("FETCH_HEAD"), ".git/FETCH_HEAD is there: what was fetched last"),
        (_written("logs/HEAD"), ".git/logs is there: a reflog"),
        (_written("ORIG_HEAD"), ".git/ORIG_HEAD is there: where it was before"),
        (_worktree, ".git/worktrees is there: other working trees"),
        (
            _written("objects/info/alternates"),
            ".git/objects/info/alternates is there: objects of another repository",
        ),
    ],
)
def test_what_leads_to_other_commits_is_told(
    task: EvalTask, root: Path, put: Callable[[Path], None], told: str
) -> None:
    put(root)
    problems = texts(check_history(task, root, PATH))
    assert any(text.startswith(told) for text in problems), problems


def test_a_file_in_place_of_the_repository_is_told(task: EvalTask, tmp_path: Path) -> None:
    root = tmp_path / "linked"
    root.mkdir()
    (root / ".git").write_text("gitdir: /elsewhere/.git\n")
    assert texts(check_history(task, root, PATH)) == [".git leads to a repository elsewhere"]


def test_a_copy_of_the_repository_is_told(task: EvalTask, root: Path, tmp_path: Path) -> None:
    git(tmp_path / "repo", "clone", "-q", "--bare", ".", str(root / "mirror.git"))
    assert texts(check_history(task, root, PATH)) == ["mirror.git is a copy of the repository"]
    git(root, "init", "-q", "other")
    assert len(texts(check_history(task, root, PATH))) == 1


def test_a_folder_without_a_repository_has_no_history(tmp_path: Path) -> None:
    task = a_good_task(a_repo(tmp_path / "repo"), start=FolderStart({}))
    (tmp_path / "plain").mkdir()
    checked = check_history(task, tmp_path / "plain", PATH)
    assert checked.skipped == "the workspace has no repository"
