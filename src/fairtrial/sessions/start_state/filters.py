"""Files that git would run a program over, such as those of git LFS; here none is run."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from fairtrial.workspaces.reading_git import Entry, Git
from fairtrial.workspaces.snapshots.git_program import GitError

_ATTRIBUTES = ".gitattributes"
_NONE = ("unspecified", "unset", "set", "")


def filtered(git: Git, tree: Mapping[str, Entry]) -> dict[str, str]:
    """Return the files of a tree that have a filter, and its name.

    Raises:
        GitError: git failed.
    """
    attributes = [
        entry.hash for path, entry in tree.items() if path.rpartition("/")[2] == _ATTRIBUTES
    ]
    if not any(b"filter=" in blob for blob in git.blobs(attributes).values()):
        return {}
    with tempfile.TemporaryDirectory(prefix="fairtrial-") as folder:
        index = Path(folder) / "index"
        fill(git, index, tree)
        given = b"".join(os.fsencode(path) + b"\0" for path in tree)
        printed = git.run(
            "check-attr",
            "--cached",
            "-z",
            "--stdin",
            "filter",
            given=given,
            variables={"GIT_INDEX_FILE": str(index)},
        )
    words = printed.split(b"\0")
    names = zip(words[0::3], words[2::3], strict=False)
    found = {os.fsdecode(path): name.decode(errors="replace") for path, name in names}
    return {path: name for path, name in found.items() if name not in _NONE}


def fill(git: Git, index: Path, tree: Mapping[str, Entry]) -> None:
    """Write an index of the files of a tree.

    Raises:
        GitError: git failed.
    """
    lines = (
        f"{entry.mode} {entry.hash}\t".encode() + os.fsencode(path) + b"\0"
        for path, entry in tree.items()
    )
    git.run(
        "update-index",
        "-z",
        "--index-info",
        given=b"".join(lines),
        variables={"GIT_INDEX_FILE": str(index)},
    )


def without_filters(git: Git) -> list[tuple[str, str]]:
    """Return the settings with which no configured filter is run."""
    try:
        names = git.paths("config", "-z", "--name-only", "--get-regexp", r"^filter\..*")
    except GitError:  # there is none
        return []
    filters = {name.rpartition(".")[0] for name in names}
    return [
        (f"{name}.{key}", value)
        for name in sorted(filters)
        for key, value in (("smudge", ""), ("clean", ""), ("process", ""), ("required", "false"))
    ]
