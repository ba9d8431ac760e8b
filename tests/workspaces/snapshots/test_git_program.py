"""Git as a program: what it says when something is wrong."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fairtrial.workspaces.snapshots.git_program import Git, GitError


@pytest.mark.parametrize("words", [["rev-parse", "HEAD"], ["-c", "a.b=c", "rev-parse", "HEAD"]])
def test_an_error_names_the_command(tmp_path: Path, words: list[str]) -> None:
    environ = {**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
    with pytest.raises(GitError, match=r"^git rev-parse: fatal: not a git repository"):
        Git(environ, lambda: 60.0).run(words, cwd=tmp_path)
    with pytest.raises(GitError, match=r"^git rev-parse does not run: No such file"):
        Git(environ, lambda: 60.0).run(words, cwd=tmp_path / "gone")
    with pytest.raises(GitError, match=r"^git rev-parse took longer"):
        Git(environ, lambda: 0.0).run(words, cwd=tmp_path)
