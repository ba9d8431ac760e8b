"""Snapshots of repositories: what is known of them, and their content."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

from fairtrial.model.snapshot import Snapshot


class SnapshotStore(Protocol):
    """Keeps what is known of snapshots; `SnapshotFiles` keeps what is in them."""

    def save(self, snapshots: Iterable[Snapshot]) -> None:
        """Keep snapshots; those that are known already stay as they are."""
        ...

    def of_session(self, agent: str, native_id: str) -> Sequence[Snapshot]:
        """Return the snapshots of a session, the first taken first; often there is none."""
        ...

    def find(self, ref: str) -> Snapshot:
        """Return the snapshot that an id, or a unique prefix of 6 or more characters, names.

        Raises:
            NotFoundError: there is none, or the prefix fits several.
        """
        ...

    def newest(self, limit: int) -> Sequence[Snapshot]:
        """Return the last taken ones, the last first."""
        ...

    def forget(self, snapshots: Iterable[Snapshot]) -> None:
        """Remove what is known of snapshots; `SnapshotFiles.remove` comes first."""
        ...


class SnapshotFiles(Protocol):
    """Keeps the content of snapshots as git objects, apart from the user's repositories."""

    def holds(self, snapshot: Snapshot) -> bool:
        """Return whether the content of a snapshot is there."""
        ...

    def restore(self, snapshot: Snapshot, folder: Path) -> None:
        """Write the files of a snapshot into a folder, byte for byte as they were.

        Modes, links and empty files come back too; a submodule is an empty folder. No `.git` is
        made.

        Args:
            snapshot: What to write.
            folder: It is made when it is not there, and has to be empty.

        Raises:
            UsageError: the folder is not empty or cannot be written.
            NotFoundError: the content is not there any more.
        """
        ...

    def restore_repository(self, snapshot: Snapshot, folder: Path) -> None:
        """Write the files and make them a git repository in the state the user's was in.

        Its head holds one commit with the content of the user's, without history; what was staged
        is staged again. It has no remote and no configuration of the user's.

        Raises:
            As `restore`.
        """
        ...

    def diff(self, before: Snapshot, after: Snapshot) -> bytes:
        """Return what changed from one snapshot to another of the same repository.

        A patch as `git diff --binary` writes it.

        Raises:
            UsageError: they are of different repositories.
            NotFoundError: the content of one is not there any more.
        """
        ...

    def remove(self, snapshots: Iterable[Snapshot]) -> int:
        """Delete the content of snapshots for good, and return the bytes set free.

        What other snapshots hold too stays; what is not there any more is no error.
        """
        ...
