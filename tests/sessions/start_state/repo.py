"""A real repository, its true tree, and sessions about it."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

ENVIRON: dict[str, str] = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "LC_ALL": "C.UTF-8",
}


def tree_of(folder: Path) -> dict[str, tuple[str, bytes]]:
    """Return all files below a folder but git's own: kind and content."""
    found: dict[str, tuple[str, bytes]] = {}
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git"]
        for name in [*files, *(one for one in folders if (Path(place) / one).is_symlink())]:
            path = Path(place) / name
            if name == ".git":
                continue
            key = str(path.relative_to(folder))
            if path.is_symlink():
                found[key] = ("link", os.fsencode(path.readlink()))
            else:
                kind = "executable" if path.stat().st_mode & 0o100 else "file"
                found[key] = (kind, path.read_bytes())
    return found


@dataclass(frozen=True)
class Repo:
    """A repository in a folder."""

    root: Path

    def git(self, *words: str, **environ: str) -> str:
        """Run git in it, and return what it prints."""
        named = ("-c", "user.name=T", "-c", "user.email=t@example.com")
        return subprocess.run(
            ["git", "-C", str(self.root), *named, "-c", "protocol.file.allow=always", *words],
            env={**ENVIRON, **environ},
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()

    def write(self, path: str, content: str | bytes) -> Path:
        """Write a file, with its folders."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
        return place

    def commit(self, message: str = "change", at: str | None = None) -> str:
        """Commit all there is, and return the hash."""
        dates = {} if at is None else {"GIT_COMMITTER_DATE": at, "GIT_AUTHOR_DATE": at}
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message, **dates)
        return self.git("rev-parse", "HEAD")

    def tree(self) -> dict[str, tuple[str, bytes]]:
        """Return its working tree."""
        return tree_of(self.root)


def repo_in(root: Path, *options: str) -> Repo:
    """Return a new repository without a commit."""
    root.mkdir(parents=True)
    repo = Repo(root)
    repo.git("init", "-q", "-b", "main", *options)
    return repo
