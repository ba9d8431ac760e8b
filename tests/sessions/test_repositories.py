"""The repository around a folder of a session."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.sessions.start_state.repo import repo_in

from fairtrial.sessions.repositories import Repositories, git_folder


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=T", "-c", "user.email=t@example.test")
    subprocess.run(
        ["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True
    )


def test_a_folder_within_a_repository(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "shop")
    inner = tmp_path / "shop" / "src" / "deep"
    inner.mkdir(parents=True)
    found = Repositories()
    assert found.around(str(inner)) == str(tmp_path / "shop")
    assert found.around(str(tmp_path / "shop")) == str(tmp_path / "shop")


def test_a_worktree_is_a_root_of_its_own(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "shop")
    git(tmp_path / "shop", "commit", "-q", "--allow-empty", "-m", "first")
    git(tmp_path / "shop", "worktree", "add", "-q", "../tree")
    assert Repositories().around(str(tmp_path / "tree")) == str(tmp_path / "tree")


def test_a_bare_repository(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "shop.git")
    assert Repositories().around(str(tmp_path / "shop.git")) == str(tmp_path / "shop.git")


@pytest.mark.parametrize(
    "folder", [None, "/no/such/folder", "relative", "C:\\work\\shop", "/nul\0", ""]
)
def test_a_folder_that_is_not_here_has_none(folder: str | None) -> None:
    assert Repositories().around(folder) is None


def test_worktrees_share_what_git_keeps(tmp_path: Path) -> None:
    repo = repo_in(tmp_path / "shop")
    repo.commit()
    repo.git("worktree", "add", "-q", str(tmp_path / "side"), "-b", "side")
    (tmp_path / "link").symlink_to(repo.root)
    other = repo_in(tmp_path / "other")
    own = git_folder(str(repo.root))
    assert own == repo.root / ".git"
    for folder in ("side", "link", "shop/gone/deep"):
        assert git_folder(str(tmp_path / folder)) == own
    assert git_folder(str(other.root)) == other.root / ".git"
    repo.git("clone", "-q", "--bare", str(repo.root), str(tmp_path / "bare"))
    assert git_folder(str(tmp_path / "bare")) == tmp_path / "bare"
    for folder in ("relative", "C:\\shop", "/nowhere\0", str(tmp_path)):
        assert git_folder(folder) is None
