"""A workspace as its agent finds it: the commit, what differed from it, no history, no secret."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from fairtrial.model.errors import NotFoundError, Undecidable
from fairtrial.model.eval_task import Command, EvalTask, FolderStart, RepoStart, Verifier
from fairtrial.model.snapshot import Snapshot
from fairtrial.ports.snapshots import SnapshotFiles
from fairtrial.suites.folders import read_task
from fairtrial.suites.starting import Sources, write_start

HIDDEN = "the hidden expectation 4711"
ENV = {
    **os.environ,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "a@x",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "a@x",
}


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=folder, env=ENV, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def no_snapshot(ref: str) -> Snapshot:
    raise NotFoundError(f"there is no snapshot {ref}")


SOURCES = Sources(os.environ, no_snapshot, cast("SnapshotFiles", None))


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Give a repository with a past, a future, a remote, a tag and a hidden test."""
    folder = tmp_path / "repo"
    (folder / "tests").mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    (folder / "old.txt").write_text("past")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    (folder / "a.py").write_text("x = 1\n")
    (folder / "run").write_text("#!/bin/sh\n")
    (folder / "run").chmod(0o755)
    (folder / "link").symlink_to("a.py")
    (folder / "tests" / "hidden.py").write_text(HIDDEN)
    (folder / ".gitignore").write_text("*.log\n")
    (folder / "kept.log").write_text("committed though ignored")
    git(folder, "add", "-f", ".")
    git(folder, "commit", "-q", "-m", "base")
    git(folder, "tag", "base")
    (folder / "a.py").write_text("x = 'the future'\n")
    git(folder, "commit", "-q", "-a", "-m", "the fix")
    git(folder, "remote", "add", "origin", "https://example.invalid/x.git")
    return folder


def a_task(repo: Path, patch: str = "", hidden: Sequence[str] = ()) -> EvalTask:
    start = RepoStart(str(repo), git(repo, "rev-parse", "base"), None, patch)
    verifier = Verifier(Command("true", 60.0), patterns=tuple(hidden))
    return EvalTask("s", "t", "Do it", start, verifier)


def test_the_commit_is_there_without_past_or_future(repo: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    before = git(repo, "status", "--porcelain"), git(repo, "count-objects")
    write_start(a_task(repo), None, place, SOURCES)
    assert (place / "a.py").read_text() == "x = 1\n"
    assert (place / "kept.log").exists()
    assert os.access(place / "run", os.X_OK)
    assert (place / "link").readlink() == Path("a.py")
    assert git(place, "status", "--porcelain") == ""
    assert git(place, "rev-list", "--all", "--count") == "1"
    assert git(place, "remote") == git(place, "tag") == git(place, "reflog") == ""
    told = git(place, "cat-file", "--batch-all-objects", "--batch-check=%(objecttype)")
    assert told.count("commit") == 1
    assert "the future" not in everything(place)
    assert (git(repo, "status", "--porcelain"), git(repo, "count-objects")) == before


def test_what_was_not_committed_is_not(repo: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    git(tmp_path, "clone", "-q", str(repo), str(other))
    git(other, "checkout", "-q", "base")
    (other / "a.py").write_bytes("x = 'ä'\r\n".encode("latin-1"))
    (other / "new.bin").write_bytes(b"\0\xff")
    (other / "old.txt").unlink()
    git(other, "add", "-A")
    done = subprocess.run(
        ["git", "diff", "--cached", "--binary"], cwd=other, check=True, capture_output=True
    )
    patch = done.stdout.decode("utf-8", "surrogateescape")
    place = tmp_path / "place"
    place.mkdir()
    write_start(a_task(repo, patch), None, place, SOURCES)
    assert (place / "a.py").read_bytes() == "x = 'ä'\r\n".encode("latin-1")
    assert (place / "new.bin").read_bytes() == b"\0\xff"
    assert not (place / "old.txt").exists()
    told = git(place, "status", "--porcelain", "-z")
    assert told.strip("\0").split("\0") == ["M a.py", " D old.txt", "?? new.bin"]


def test_a_hidden_file_is_in_no_object(repo: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    write_start(a_task(repo, hidden=["tests/*.py"]), None, place, SOURCES)
    assert not (place / "tests" / "hidden.py").exists()
    assert git(place, "status", "--porcelain") == ""
    assert HIDDEN not in everything(place)


def test_equal_tasks_are_equal_commits(repo: Path, tmp_path: Path) -> None:
    heads = set()
    for name in ("one", "two"):
        place = tmp_path / name
        place.mkdir()
        write_start(a_task(repo, hidden=["tests/*"]), None, place, SOURCES)
        heads.add(git(place, "rev-parse", "HEAD"))
    assert len(heads) == 1


def test_a_folder_is_copied_without_hidden_files(tmp_path: Path) -> None:
    folder = tmp_path / "suite" / "tasks" / "t"
    (folder / "environment" / "sub").mkdir(parents=True)
    (folder / "task.toml").write_text('[verifier]\ncommand = "true"\nhidden = ["sub/*"]\n')
    (folder / "instruction.md").write_text("Do it")
    (folder / "environment" / "a").write_text("a")
    (folder / "environment" / "a").chmod(0o755)
    (folder / "environment" / "sub" / "b").write_text(HIDDEN)
    (folder / "environment" / "link").symlink_to("a")
    place = tmp_path / "place"
    place.mkdir()
    task = read_task(folder, tmp_path)
    write_start(task, folder / "environment", place, SOURCES)
    assert sorted(path.name for path in place.rglob("*")) == ["a", "link"]
    assert os.access(place / "a", os.X_OK)


@pytest.mark.parametrize(
    "start",
    [
        RepoStart("/nowhere", "a" * 40),
        RepoStart("/nowhere", None, "snap_1"),
        FolderStart({"a": "x"}),
    ],
)
def test_what_is_gone_is_undecidable(start: RepoStart | FolderStart, tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    task = EvalTask("s", "t", "Do it", start, Verifier(Command("true", 60.0)))
    with pytest.raises(Undecidable, match="s/t cannot be made") as caught:
        write_start(task, tmp_path / "gone", place, SOURCES)
    assert "\n" not in str(caught.value)  # it stands in the middle of a sentence


def test_a_patch_that_does_not_apply_is_told(repo: Path, tmp_path: Path) -> None:
    task = a_task(repo, "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-y\n+z\n")
    place = tmp_path / "place"
    place.mkdir()
    with pytest.raises(Undecidable, match="git apply"):
        write_start(replace(task, name="u"), None, place, SOURCES)


def everything(folder: Path) -> str:
    """Return all files of a folder and all objects of its repository, as one text."""
    files = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    objects = subprocess.run(
        ["git", "cat-file", "--batch-all-objects", "--batch"],
        cwd=folder,
        check=True,
        capture_output=True,
    ).stdout
    return b"\n".join([*files, objects]).decode("utf-8", "replace")


def test_what_an_image_is_built_from_is_not_its_workspace(tmp_path: Path) -> None:
    folder = tmp_path / "suite" / "tasks" / "t"
    (folder / "environment").mkdir(parents=True)
    (folder / "task.toml").write_text('[verifier]\ncommand = "true"\n')
    (folder / "instruction.md").write_text("Do it")
    (folder / "environment" / "Dockerfile").write_text("FROM x")
    (folder / "environment" / "a").write_text("a")
    place = tmp_path / "place"
    place.mkdir()
    write_start(read_task(folder, tmp_path), folder / "environment", place, SOURCES)
    assert list(place.iterdir()) == []
