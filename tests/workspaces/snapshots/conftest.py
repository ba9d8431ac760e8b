"""A user's repository, and snapshots of it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest

from fairtrial.model.snapshot import Moment, Snapshot
from fairtrial.workspaces.snapshots.files import GitSnapshotFiles, Limits, Occasion

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
Tree = dict[str, tuple[str, bytes]]


@dataclass
class Repo:
    """A repository of a user's."""

    root: Path
    home: Path

    def git(self, *words: str, cwd: Path | None = None) -> str:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
            "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
        }
        who = ["-c", "user.name=T", "-c", "user.email=t@example.com"]
        done = subprocess.run(
            ["git", *who, *words],
            cwd=cwd or self.root,
            env=env,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def write(self, name: str, content: bytes | str, mode: int = 0o644) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        path.chmod(mode)
        return path

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "next")

    def state(self) -> dict[str, tuple[bytes, int]]:
        """Return all that a snapshot must not touch."""
        folder = self.root / ".git"
        return {
            str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }


@dataclass
class Shelf:
    """A data folder with snapshots."""

    home: Path
    environ: dict[str, str]
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    @property
    def files(self) -> GitSnapshotFiles:
        return GitSnapshotFiles(self.home, self.environ)

    def take(
        self, folder: Path, moment: Moment = Moment.START, limits: Limits | None = None
    ) -> Snapshot:
        snapshot_id = f"snap_{next(self.numbers):026}"
        occasion = Occasion(snapshot_id, "claude-code", "native-1", moment, NOW)
        return self.files.take(folder, occasion, limits)


def tree(folder: Path, leave: tuple[str, ...] = (".git",)) -> Tree:
    """Return all files below a folder: their kind and what is in them."""
    found: Tree = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.relative_to(folder).parts[0] in leave:
            continue
        if path.is_symlink():
            found[name] = ("link", os.fsencode(path.readlink()))
        elif path.is_file():
            kind = "program" if path.stat().st_mode & 0o100 else "file"
            found[name] = (kind, path.read_bytes())
    return found


@pytest.fixture
def make_repo(tmp_path: Path) -> Callable[..., Repo]:
    def make(name: str = "repo", *words: str) -> Repo:
        home = tmp_path / "user"
        home.mkdir(exist_ok=True)
        root = tmp_path / name
        root.mkdir()
        repo = Repo(root, home)
        repo.git("init", "-q", "-b", "main", *words)
        return repo

    return make


@pytest.fixture
def repo(make_repo: Callable[..., Repo]) -> Repo:
    return make_repo()


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "user")}
    return Shelf(tmp_path / "data", environ)
