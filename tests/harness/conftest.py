"""A repository with a harness."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.sessions.start_state.repo import Repo

from fairtrial.harness.sources import Place

ENVIRON = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
Files = dict[str, str | bytes]


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """An empty repository on the branch main."""
    folder = tmp_path / "shop"
    folder.mkdir()
    repo = Repo(folder)
    repo.git("init", "-q", "-b", "main")
    return repo


@pytest.fixture
def write(repo: Repo) -> Callable[..., str]:
    """Writes files and commits them; returns the commit."""

    def written(message: str = "change", **files: str) -> str:
        for name, text in files.items():
            repo.write(f"{name}.md", text)
        return repo.commit(message)

    return written


@pytest.fixture
def place(repo: Repo) -> Callable[[], Place]:
    """Looks at the repository anew."""
    return lambda: Place(repo.root, ENVIRON)
