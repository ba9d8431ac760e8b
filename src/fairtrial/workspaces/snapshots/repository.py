"""The user's repository around a folder: what has to be known of it, by reading alone."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from fairtrial.workspaces.snapshots.git_program import Git

# Settings that say how git looks at the files of this repository.
_SETTINGS = (
    "autocrlf|eol|filemode|symlinks|ignorecase|precomposeunicode|trustctime|checkstat|"
    "excludesfile|attributesfile|sparsecheckout"
)


class NoSnapshotError(Exception):
    """No snapshot can be taken here; `str()` says why."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository with a working tree.

    Attributes:
        root: Root of the working tree.
        git_dir: Its own git folder; that of a worktree lies in the repository's.
        common_dir: The git folder that all worktrees share.
        hash: `sha1` or `sha256`.
        head: The commit that is checked out; None before the first one.
        head_tree: Its tree.
        branch: The branch; None when the head is detached.
        settings: `core.*` settings that say how its files are looked at, names in small letters.
    """

    root: Path
    git_dir: Path
    common_dir: Path
    hash: str
    head: str | None
    head_tree: str | None
    branch: str | None
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """What its snapshots are kept under: its name for people, and a hash of where it is."""
        place = os.fsencode(self.common_dir) + b"\0" + self.hash.encode()
        named = self.common_dir.parent if self.common_dir.name == ".git" else self.common_dir
        name = "".join(char if char.isascii() and char.isalnum() else "-" for char in named.name)
        return f"{name[:40] or 'root'}-{sha256(place).hexdigest()[:16]}"

    @property
    def objects(self) -> Path:
        """Where its objects are."""
        return self.common_dir / "objects"


def find_repository(git: Git, folder: Path) -> Repository:
    """Return the repository around a folder.

    Raises:
        NoSnapshotError: there is none, or none with a working tree.
        GitError: git failed.
    """
    if not folder.is_dir():
        raise NoSnapshotError(f"the folder {folder} does not exist any more")
    asked = ("--is-bare-repository", "--is-inside-work-tree", "--show-object-format")
    places = ("--show-toplevel", "--absolute-git-dir", "--git-common-dir")
    heads = ("HEAD^{commit}", "HEAD^{tree}", "--symbolic-full-name", "HEAD")
    answer = git.run(["rev-parse", *asked, *places, *heads], cwd=folder, own=False, check=False)
    lines = answer.lines()
    if not lines:
        last = answer.err.splitlines()[-1] if answer.err else "no git repository"
        raise NoSnapshotError(f"{folder}: {last.removeprefix('fatal: ')}")
    if lines[0] == "true":
        raise NoSnapshotError(f"{folder} is in a bare repository: it has no working tree")
    if lines[1:2] != ["true"] or len(lines) < 6:
        raise NoSnapshotError(f"{folder} is in a git folder, not in a working tree")
    root, git_dir = Path(lines[3]), Path(lines[4])
    common = Path(os.path.realpath(folder / lines[5]))
    if not (root.is_dir() and git_dir.is_dir() and common.is_dir()):
        raise NoSnapshotError(f"the name of the repository at {folder} holds a line break")
    born = answer.code == 0 and len(lines) >= 9
    full = lines[8] if born else _unborn_branch(git_dir)
    return Repository(
        root=root,
        git_dir=git_dir,
        common_dir=common,
        hash=lines[2],
        head=lines[6] if born else None,
        head_tree=lines[7] if born else None,
        branch=full.removeprefix("refs/heads/") if full.startswith("refs/heads/") else None,
        settings=_settings(git, folder),
    )


def _unborn_branch(git_dir: Path) -> str:
    try:
        return (git_dir / "HEAD").read_text().strip().removeprefix("ref: ")
    except (OSError, UnicodeDecodeError):
        return ""


def _settings(git: Git, folder: Path) -> dict[str, str]:
    words = ["config", "-z", "--get-regexp", f"^core\\.({_SETTINGS})$"]
    answer = git.run(words, cwd=folder, own=False, check=False)
    settings = {}
    for entry in os.fsdecode(answer.out).split("\0"):
        name, has_value, value = entry.partition("\n")
        if name:
            settings[name.removeprefix("core.")] = value if has_value else "true"
    return settings
