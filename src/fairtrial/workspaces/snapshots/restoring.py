"""Writing a snapshot's files into a folder, byte for byte."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

from fairtrial.model.snapshot import Snapshot
from fairtrial.workspaces.snapshots.git_program import Git
from fairtrial.workspaces.snapshots.object_store import ObjectStore


def write_files(git: Git, store: ObjectStore, snapshot: Snapshot, folder: Path) -> None:
    """Write the files of a snapshot into an empty folder.

    Raises:
        GitError: git failed; some files may have been written.
    """
    with TemporaryDirectory(prefix="fairtrial-restore-") as name:
        variables = store.variables() | {
            "GIT_INDEX_FILE": str(Path(name) / "index"),
            "GIT_WORK_TREE": str(folder),
        }
        git.run(["read-tree", snapshot.worktree_tree], cwd=folder, env=variables)
        # The files of a snapshot of a partial clone may be here in part.
        git.run(["-c", "core.bare=false", "checkout-index", "-a", "-q"], cwd=folder, env=variables)


def make_repository(git: Git, store: ObjectStore, snapshot: Snapshot, folder: Path) -> None:
    """Make a repository of a folder into which a snapshot was written.

    Raises:
        GitError: git failed.
    """
    object_hash = "sha256" if len(snapshot.commit) == 64 else "sha1"
    git.run(["init", "-q", f"--object-format={object_hash}", "--template=", str(folder)])
    here = {"GIT_DIR": str(folder / ".git"), "GIT_WORK_TREE": str(folder)}
    lent = store.variables() | here
    git.run(
        [
            *("pack-objects", "-q", "--revs", "--delta-base-offset", "--threads=1"),
            str(folder / ".git" / "objects" / "pack" / "pack"),
        ],
        env=store.variables(),
        stdin=f"{snapshot.commit}\n".encode(),
    )
    branch = snapshot.branch or "main"
    git.run(["symbolic-ref", "HEAD", f"refs/heads/{branch}"], env=here)
    parents = git.run(["rev-list", "--first-parent", snapshot.commit], env=lent).lines()
    if snapshot.head is not None:
        git.run(["update-ref", f"refs/heads/{branch}", parents[-1]], env=here)
    index = snapshot.index_tree or (f"{parents[-1]}^{{tree}}" if snapshot.head else None)
    if index is not None:
        git.run(["read-tree", index], env=here)
    if snapshot.branch is None and snapshot.head is not None:
        git.run(["update-ref", "--no-deref", "HEAD", parents[-1]], env=here)
        (folder / ".git" / "HEAD").write_text(f"{parents[-1]}\n")
    git.run(["update-index", "-q", "--refresh"], cwd=folder, env=here, check=False)


def is_empty(folder: Path) -> bool:
    """Return whether a folder holds nothing."""
    with os.scandir(folder) as entries:
        return next(entries, None) is None
