"""Files as they are now that were last changed before a session: so they were when it began."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from fairtrial.workspaces.reading_git import Git
from fairtrial.workspaces.snapshots.git_program import GitError

_LARGEST: Final = 32 * 1024 * 1024
_LARGEST_ALL: Final = 256 * 1024 * 1024
_MOST: Final = 20_000


@dataclass(frozen=True, slots=True)
class Found:
    """A file with git's mode of it."""

    data: bytes
    mode: str


class Untouched:
    """Looks at the files of a session's own folder.

    Args:
        root: The root of the working tree; None when it is gone.
        began: When the session began; None when that is not known for sure.
        ended: When it ended, likewise.
    """

    def __init__(self, root: Path | None, began: datetime | None, ended: datetime | None) -> None:
        self._root = root
        self._began = began
        self._ended = ended
        self._left = _LARGEST_ALL

    @property
    def can_tell(self) -> bool:
        """Whether anything can be told by the times of files."""
        return self._root is not None and self._began is not None

    def at(self, path: str) -> Found | None:
        """Return a file that was last changed before the session; None when it was not."""
        return self._older(path, self._began)

    def left(self, path: str) -> bytes | None:
        """Return a file that was last changed before the session ended: as it left it."""
        found = self._older(path, self._ended)
        return None if found is None or found.mode == "120000" else found.data

    def was_gone(self, path: str) -> bool:
        """Return whether a file that is not there now was not there before the session either.

        The folder that it was in, or the nearest one that is left, was last changed before it.
        """
        if self._root is None or self._began is None:
            return False
        try:
            place = self._root / path
            if os.path.lexists(place):
                return False
            around = place.parent
            while around != self._root and not os.path.lexists(around):
                around = around.parent
            facts = around.lstat()
        except (OSError, ValueError):
            return False
        return max(facts.st_mtime, facts.st_ctime) < self._began.timestamp()

    def _older(self, path: str, limit: datetime | None) -> Found | None:
        if self._root is None or limit is None:
            return None
        try:
            place = self._root / path
            facts = place.lstat()
            # The second time is that of the last change of its name or mode: an old file that was
            # moved here, or whose time was set back, has it newer.
            if max(facts.st_mtime, facts.st_ctime) >= limit.timestamp():
                return None
            if stat.S_ISLNK(facts.st_mode):
                return Found(os.fsencode(place.readlink()), "120000")
            if not stat.S_ISREG(facts.st_mode) or facts.st_size > min(_LARGEST, self._left):
                return None
            data = place.read_bytes()
        except (OSError, ValueError):
            return None
        self._left -= len(data)
        return Found(data, "100755" if facts.st_mode & stat.S_IXUSR else "100644")

    def like(self, path: str) -> bytes | None:
        """Return the start of a file as it is now, whenever it was changed: for its line ends."""
        if self._root is None:
            return None
        try:
            place = self._root / path
            if not stat.S_ISREG(place.lstat().st_mode):
                return None
            with place.open("rb") as stream:
                return stream.read(64 * 1024)
        except (OSError, ValueError):
            return None

    def mode(self, path: str) -> str:
        """Return git's mode of a file as it is now; that of a plain file when it is gone."""
        try:
            now = None if self._root is None else (self._root / path).lstat().st_mode
        except (OSError, ValueError):
            now = None
        return "100755" if now is not None and now & stat.S_IXUSR else "100644"

    def below(self, folder: str) -> list[str]:
        """Return the paths of all files below a folder that end in `/`, or the path of a file."""
        if self._root is None or not folder.endswith("/"):
            return [folder]
        found: list[str] = []
        for place, folders, files in os.walk(self._root / folder):
            folders[:] = sorted(name for name in folders if name != ".git")
            found += [str((Path(place) / name).relative_to(self._root)) for name in sorted(files)]
            if len(found) > _MOST:
                break
        return found


def differing(git: Git, commit: str | None, worktree: Path) -> list[str]:
    """Return the files of a working tree that may differ from a commit, those unknown to git too.

    Ignored files are not among them.
    """
    tree = Git(worktree, git.environ)
    try:
        unknown = tree.paths("ls-files", "-z", "--others", "--exclude-standard", "--full-name")
        if commit is None:
            return [*tree.paths("ls-files", "-z", "--full-name"), *unknown][:_MOST]
        words = ("diff-index", "--no-ext-diff", "--no-textconv", "--name-only", "-z")
        changed = tree.paths(*words, "--ignore-submodules=all", commit, "--")
    except GitError:
        return []
    return [*changed, *unknown][:_MOST]
