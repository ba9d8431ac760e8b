"""The repository around a folder of a session."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from fairtrial.sessions.repositories import Repositories


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
