"""Where the objects of snapshots lie: one bare repository of ours for each of the user's.

`<home>/snapshots/<repository>/` holds objects and, for each snapshot, a reference. Objects that
the user's repository has are borrowed at first; `complete` packs them, so that the store stands
alone. A file in `borrowing/` says of which snapshots that has not been done.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Final

from fairtrial.workspaces.snapshots.git_program import Git, GitError
from fairtrial.workspaces.snapshots.private_folder import RAW, alternates

_MANY_PACKS: Final = 30
_POLL_S: Final = 0.02


class ObjectStore:
    """The objects of the snapshots of one repository.

    Attributes:
        folder: The bare repository.
    """

    def __init__(self, home: Path, key: str) -> None:
        """Name a store; nothing is made.

        Args:
            home: Folder of fairtrial's data.
            key: `Snapshot.repository`.
        """
        self.folder = home / "snapshots" / key
        self._lock = home / "snapshots" / "locks" / f"{key}.lock"

    @property
    def objects(self) -> Path:
        """Where its objects are."""
        return self.folder / "objects"

    @property
    def _borrowing(self) -> Path:
        return self.folder / "borrowing"

    @property
    def _references(self) -> Path:
        return self.folder / "refs" / "snapshots"

    def exists(self) -> bool:
        """Return whether anything is in it."""
        return (self.folder / "HEAD").is_file()

    def make(self, object_hash: str) -> None:
        """Make it, unless it is there.

        Raises:
            OSError: it cannot be written.
        """
        if self.exists():
            return
        for part in ("objects/pack", "objects/info", "refs/snapshots", "info", "borrowing"):
            (self.folder / part).mkdir(mode=0o700, parents=True, exist_ok=True)
        sha256 = object_hash == "sha256"
        config = f"[core]\nrepositoryformatversion = {int(sha256)}\nbare = true\n"
        config += "autocrlf = false\nsymlinks = true\nfilemode = true\n"
        config += "[extensions]\nobjectFormat = sha256\n" if sha256 else ""
        (self.folder / "config").write_text(config)
        (self.folder / "info" / "attributes").write_text(RAW)
        (self.folder / "HEAD").write_text("ref: refs/heads/none\n")

    @contextmanager
    def held(self, left_s: float, *, alone: bool = False) -> Iterator[None]:
        """Hold it so that nobody removes from it meanwhile; alone, so that nobody writes either.

        Raises:
            GitError: another process held it for all that time.
            OSError: it cannot be locked.
        """
        how = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
        with _locked(self._lock, how, left_s):
            yield

    @contextmanager
    def completing(self, left_s: float) -> Iterator[None]:
        """Be the only one that packs what is borrowed; snapshots may be taken meanwhile.

        Raises:
            As `held`.
        """
        with _locked(self._lock.with_suffix(".completing"), fcntl.LOCK_EX, left_s):
            yield

    def keep(self, snapshot_id: str, commit: str, borrowed: Path) -> None:
        """Refer to a commit, whose objects are here or in a folder of the user's.

        Raises:
            OSError: it cannot be written.
        """
        self._write(self._borrowing / snapshot_id, os.fsencode(borrowed))
        self._write(self._references / snapshot_id, f"{commit}\n".encode())

    def holds(self, snapshot_id: str) -> bool:
        """Return whether it has a snapshot."""
        return (self._references / snapshot_id).is_file()

    def variables(self) -> dict[str, str]:
        """Return what makes git use it, and what is still borrowed."""
        return {"GIT_DIR": str(self.folder)} | self._lenders(self._borrowers())

    def _borrowers(self) -> list[str]:
        if not self._borrowing.is_dir():
            return []
        return sorted(entry.name for entry in self._borrowing.iterdir())

    def _lenders(self, borrowers: Iterable[str]) -> dict[str, str]:
        folders = []
        for borrower in borrowers:
            try:
                folders.append(Path(os.fsdecode((self._borrowing / borrower).read_bytes())))
            except FileNotFoundError:
                continue
        told = os.pathsep.join(alternates(folder) for folder in dict.fromkeys(folders))
        return {"GIT_ALTERNATE_OBJECT_DIRECTORIES": told} if told else {}

    def complete(self, git: Git) -> None:
        """Pack what is borrowed, so that the snapshots outlive the user's repository.

        A snapshot whose repository is gone before that is dropped.

        Raises:
            GitError: git failed; what was borrowed still is.
            OSError: it cannot be written.
        """
        borrowers = [name for name in self._borrowers() if self.holds(name)]
        for name in borrowers:
            if not Path(os.fsdecode((self._borrowing / name).read_bytes())).is_dir():
                self._drop(name)
        borrowers = [name for name in borrowers if self.holds(name)]
        if not borrowers:
            return
        variables = {"GIT_DIR": str(self.folder)} | self._lenders(borrowers)
        done = [entry.name for entry in self._references.iterdir() if entry.name not in borrowers]
        wanted = [*self._commits(borrowers), *(f"^{one}" for one in self._commits(done))]
        pack = self.objects / "pack" / "pack"
        words = ["pack-objects", "-q", "--revs", "--delta-base-offset", "--threads=1", str(pack)]
        git.run(words, env=variables, stdin="".join(f"{line}\n" for line in wanted).encode())
        for name in borrowers:
            (self._borrowing / name).unlink(missing_ok=True)
        git.run(["prune-packed", "-q"], env=self.variables())

    def tidy(self, git: Git) -> None:
        """Make one pack of many; to be held alone.

        Raises:
            GitError: git failed.
        """
        packs = list((self.objects / "pack").glob("*.pack"))
        if len(packs) > _MANY_PACKS and not self._borrowers():
            self._repack(git)

    def remove(self, snapshot_ids: Iterable[str], git: Git) -> int:
        """Delete snapshots, and what only they hold; return the bytes set free.

        Raises:
            GitError: git failed: the snapshots are gone, what they held not yet.
            OSError: it cannot be written.
        """
        if not self.exists():
            return 0
        before = _size(self.folder)
        for snapshot_id in snapshot_ids:
            self._drop(snapshot_id)
        if not any(self._references.iterdir()):
            shutil.rmtree(self.folder)
            return before
        self.complete(git)
        self._repack(git)
        return max(before - _size(self.folder), 0)

    def _write(self, path: Path, data: bytes) -> None:
        """Write a file whole or not at all; the part of it stands where nobody looks for it."""
        part = self.folder / f"{path.parent.name}-{path.name}.part"
        part.write_bytes(data)
        part.replace(path)

    def _drop(self, snapshot_id: str) -> None:
        (self._references / snapshot_id).unlink(missing_ok=True)
        (self._borrowing / snapshot_id).unlink(missing_ok=True)

    def _repack(self, git: Git) -> None:
        variables = {"GIT_DIR": str(self.folder)}
        git.run(["repack", "-a", "-d", "-q"], env=variables)
        git.run(["prune", "--expire=now"], env=variables)

    def _commits(self, names: Iterable[str]) -> list[str]:
        return [(self._references / name).read_text().strip() for name in names]


@contextmanager
def _locked(path: Path, how: int, left_s: float) -> Iterator[None]:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    end = monotonic() + left_s
    with path.open("ab") as file:
        while True:
            try:
                fcntl.flock(file, how | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if monotonic() >= end:
                    raise GitError(f"another process holds {path}") from None
                sleep(_POLL_S)
        yield


def _size(folder: Path) -> int:
    return sum(
        os.lstat(os.path.join(place, name)).st_size  # noqa: PTH118  # os.walk gives texts
        for place, _, names in os.walk(folder)
        for name in names
    )
