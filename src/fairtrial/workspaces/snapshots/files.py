"""Snapshots of repositories in the user's data folder."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from time import monotonic
from typing import Final

from fairtrial.model.errors import NotFoundError, StoreError, UsageError
from fairtrial.model.snapshot import Moment, Snapshot
from fairtrial.workspaces.snapshots.git_program import Git, GitError
from fairtrial.workspaces.snapshots.object_store import ObjectStore
from fairtrial.workspaces.snapshots.repository import NoSnapshotError, Repository, find_repository
from fairtrial.workspaces.snapshots.restoring import is_empty, make_repository, write_files
from fairtrial.workspaces.snapshots.taking import Trees, take
from fairtrial.workspaces.snapshots.working_tree import Limits

_LONG_S: Final = 600.0
"""For what nobody waits for: packing, removing, restoring."""

__all__ = [
    "GitSnapshotFiles",
    "Limits",
    "NoSnapshotError",
    "Occasion",
    "SnapshotFailedError",
    "Taker",
    "snapshot_of",
]


@dataclass(frozen=True, slots=True)
class Occasion:
    """What a snapshot is taken for.

    Attributes:
        snapshot_id: Its id.
        agent: As in `Session`.
        native_id: What the agent calls the session.
        moment: When in the session.
        now: When.
    """

    snapshot_id: str
    agent: str
    native_id: str
    moment: Moment
    now: datetime


class SnapshotFailedError(Exception):
    """A snapshot could not be taken; `str()` says why."""


class Taker:
    """Takes snapshots of one session's repository within a time."""

    def __init__(
        self, home: Path, environ: Mapping[str, str], limit_s: float, limits: Limits | None = None
    ) -> None:
        """Prepare.

        Args:
            home: Folder of fairtrial's data.
            environ: The environment of this process.
            limit_s: Seconds for all that it does.
            limits: How much is taken of what git does not know.

        Raises:
            NoSnapshotError: there is no git.
        """
        end = monotonic() + limit_s
        self._left: Callable[[], float] = lambda: end - monotonic()
        self._home = home
        self._environ = environ
        self._limits = limits or Limits()
        try:
            self._git = Git(environ, self._left)
        except GitError as error:
            raise NoSnapshotError(str(error)) from None

    def find(self, folder: Path) -> Repository:
        """Return the repository around a folder.

        Raises:
            NoSnapshotError: there is none that a snapshot can be taken of.
            SnapshotFailedError: git failed.
        """
        try:
            return find_repository(self._git, folder)
        except GitError as error:
            raise SnapshotFailedError(str(error)) from None

    def take(
        self,
        repository: Repository,
        new_id: Callable[[], str],
        known: Callable[[Trees], bool] = lambda _: False,
    ) -> tuple[str, Trees] | None:
        """Take a snapshot, and return its id and what it holds; None when that is known.

        Args:
            repository: What `find` returned.
            new_id: Makes the id.
            known: Told what was taken; true keeps nothing.

        Raises:
            SnapshotFailedError: it could not be taken.
        """
        store = ObjectStore(self._home, repository.key)
        try:
            with store.held(max(self._left(), 0.0)):
                store.make(repository.hash)
                trees = take(self._git, repository, store.objects, self._environ, self._limits)
                if known(trees):
                    return None
                snapshot_id = new_id()
                store.keep(snapshot_id, trees.commit, repository.objects)
        except GitError as error:
            raise SnapshotFailedError(f"{repository.root}: {error}") from None
        except OSError as error:
            place = error.filename or store.folder
            raise SnapshotFailedError(f"{place}: {error.strerror or error}") from None
        return snapshot_id, trees


class GitSnapshotFiles:
    """The `SnapshotFiles` of a data folder."""

    def __init__(self, home: Path, environ: Mapping[str, str]) -> None:
        """Name the folder; nothing is made.

        Args:
            home: Folder of fairtrial's data.
            environ: The environment of this process.
        """
        self._home = home
        self._environ = environ

    def take(self, folder: Path, occasion: Occasion, limits: Limits | None = None) -> Snapshot:
        """Take a snapshot of the repository around a folder, and let it stand alone.

        Raises:
            UsageError: there is no repository that one can be taken of.
            StoreError: it could not be taken.
        """
        try:
            taker = Taker(self._home, self._environ, _LONG_S, limits)
            repository = taker.find(folder)
            taken = taker.take(repository, lambda: occasion.snapshot_id)
        except NoSnapshotError as error:
            raise UsageError(f"no snapshot can be taken: {error}") from None
        except SnapshotFailedError as error:
            raise StoreError(f"the snapshot failed: {error}") from None
        if taken is None:
            raise TypeError(taken)
        self.complete(repository.key)
        return snapshot_of(repository, taken[1], occasion)

    def complete(self, key: str | None = None) -> None:
        """Pack what snapshots borrow from users' repositories; of one repository, or of all.

        Raises:
            StoreError: it could not be packed: what was borrowed still is.
        """
        troubles = []
        for name in [key] if key is not None else self._keys():
            store = ObjectStore(self._home, name)
            try:
                with self._git() as git, store.held(_LONG_S), store.completing(_LONG_S):
                    store.complete(git)
                with self._git() as git, store.held(0.0, alone=True):
                    store.tidy(git)
            except StoreError as error:
                if "another process holds" not in str(error):
                    troubles.append(f"{name}: {error.what}")
        if troubles:
            raise StoreError("snapshots still need their repositories", why="; ".join(troubles))

    def holds(self, snapshot: Snapshot) -> bool:
        """Return whether the content of a snapshot is there."""
        return ObjectStore(self._home, snapshot.repository).holds(snapshot.id)

    def restore(self, snapshot: Snapshot, folder: Path) -> None:
        """Write the files of a snapshot into a folder; see `SnapshotFiles`."""
        store = self._store_of(snapshot)
        _make_empty(folder)
        with self._git() as git, store.held(_LONG_S):
            write_files(git, store, snapshot, folder)

    def restore_repository(self, snapshot: Snapshot, folder: Path) -> None:
        """Write the files and make them a repository; see `SnapshotFiles`."""
        self.restore(snapshot, folder)
        store = self._store_of(snapshot)
        with self._git() as git, store.held(_LONG_S):
            make_repository(git, store, snapshot, folder)

    def diff(self, before: Snapshot, after: Snapshot) -> bytes:
        """Return what changed between two snapshots; see `SnapshotFiles`."""
        if before.repository != after.repository:
            raise UsageError(
                f"{before.id} and {after.id} are of different repositories",
                why=f"{before.root} and {after.root}",
            )
        store = self._store_of(before)
        self._store_of(after)
        trees = [before.worktree_tree, after.worktree_tree]
        words = ["diff", "--binary", "--no-ext-diff", "--no-textconv", "--no-color", "-M"]
        with self._git() as git, store.held(_LONG_S):
            return git.run([*words, *trees], env=store.variables()).out

    def remove(self, snapshots: Iterable[Snapshot]) -> int:
        """Delete the content of snapshots for good; see `SnapshotFiles`."""
        by_repository: dict[str, list[str]] = defaultdict(list)
        for snapshot in snapshots:
            by_repository[snapshot.repository].append(snapshot.id)
        freed = 0
        for key, ids in by_repository.items():
            store = ObjectStore(self._home, key)
            with self._git() as git, store.held(_LONG_S, alone=True):
                freed += store.remove(ids, git)
        return freed

    def _keys(self) -> list[str]:
        folder = self._home / "snapshots"
        if not folder.is_dir():
            return []
        return sorted(entry.name for entry in folder.iterdir() if (entry / "HEAD").is_file())

    def _store_of(self, snapshot: Snapshot) -> ObjectStore:
        store = ObjectStore(self._home, snapshot.repository)
        if not store.holds(snapshot.id):
            raise NotFoundError(
                f"the content of {snapshot.id} is not there any more",
                where=str(store.folder),
                fix="it was removed, or taken with another FAIRTRIAL_HOME",
            )
        return store

    @contextmanager
    def _git(self) -> Iterator[Git]:
        """Yield git; what goes wrong with it, or with the disk, is a failure of the store."""
        end = monotonic() + _LONG_S
        try:
            yield Git(self._environ, lambda: end - monotonic())
        except GitError as error:
            raise StoreError(
                f"the snapshots cannot be read or written: {error}",
                where=str(self._home / "snapshots"),
            ) from None
        except OSError as error:
            raise StoreError(
                f"the snapshots cannot be read or written: {error.strerror or error}",
                where=str(error.filename or self._home / "snapshots"),
                fix="check the permissions of the folder and the space on the disk",
            ) from None


def snapshot_of(repository: Repository, trees: Trees, occasion: Occasion) -> Snapshot:
    """Return the snapshot that was taken of a repository on an occasion."""
    return Snapshot(
        id=occasion.snapshot_id,
        agent=occasion.agent,
        native_id=occasion.native_id,
        moment=occasion.moment,
        taken_at=occasion.now,
        root=str(repository.root),
        repository=repository.key,
        head=repository.head,
        branch=repository.branch,
        index_tree=trees.index,
        worktree_tree=trees.files,
        commit=trees.commit,
        left_out=trees.left_out,
    )


def _make_empty(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        empty = is_empty(folder)
    except OSError as error:
        raise UsageError(f"cannot be written: {error.strerror}", where=str(folder)) from None
    if not empty:
        raise UsageError("is not empty", where=str(folder), fix="give a new or an empty folder")
