"""From paths as an agent wrote them to paths in the tree of a commit."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath, PureWindowsPath

from fairtrial.sessions.start_state.place import path_like
from fairtrial.workspaces.reading_git import Entry

_LINK = "120000"
_MOST_LINKS = 40


class Paths:
    """Maps the paths of one session.

    Args:
        root: The root of the repository as the transcript's paths have it.
        cwd: The folder that relative paths start at.
        tree: The files of the commit.
        links: Where its symbolic links point to.
    """

    def __init__(
        self,
        root: PurePath | None,
        cwd: str | None,
        tree: Mapping[str, Entry],
        links: Mapping[str, str],
    ) -> None:
        self._roots = _spellings(root) if root is not None else ()
        self._cwd = cwd
        self._tree = tree
        self._links = links

    def inside(self, path: str) -> str | None:
        """Return a path relative to the root.

        None when it is outside, in git's own folder, or in a submodule: another repository.
        What a symbolic link of the commit leads to is named by where it leads.
        """
        found = self._relative(path)
        return None if found is None else self._resolved(found)

    def _relative(self, path: str) -> str | None:
        if not path or "\0" in path or self._cwd is None:
            return None
        whole = _whole(path, self._cwd)
        for root in self._roots:
            if whole == root:
                return None
            if whole.startswith(f"{root}/"):
                return whole[len(root) + 1 :]
            if root[1:2] == ":" and whole.casefold().startswith(f"{root.casefold()}/"):
                return whole[len(root) + 1 :]
        return None

    def _resolved(self, path: str) -> str | None:
        for _ in range(_MOST_LINKS):
            parts = path.split("/")
            if any(part.casefold() == ".git" for part in parts) or ".." in parts:
                return None
            if any(self._is_submodule(head) for head in _heads(parts)):
                return None
            link = next((head for head in _heads(parts) if self._is_link(head)), None)
            if link is None:
                return path
            target = self._links.get(link, "/")
            if target.startswith("/"):
                return None
            rest = path[len(link) :]
            path = posixpath.normpath(posixpath.join(posixpath.dirname(link), target) + rest)
        return None

    def _is_submodule(self, path: str) -> bool:
        entry = self._tree.get(path)
        return entry is not None and entry.is_submodule

    def _is_link(self, path: str) -> bool:
        entry = self._tree.get(path)
        return entry is not None and entry.mode == _LINK


def links_of(tree: Mapping[str, Entry], blobs: Mapping[str, bytes]) -> dict[str, str]:
    """Return where the symbolic links of a tree point to."""
    return {
        path: os.fsdecode(blobs[entry.hash])
        for path, entry in tree.items()
        if entry.mode == _LINK and entry.hash in blobs
    }


def spelled(path: str, cwd: str) -> str:
    """Return a path as an absolute one with `/`, so that two spellings of it are one."""
    return path if "\0" in path else _whole(path, cwd)


def root_of(cwd: str, touched: Iterable[str], tree: Mapping[str, Entry]) -> PurePath:
    """Return the root of a repository that is gone: the folder of the session, or one above.

    That is the one below which most of the files that the session touched are in the commit; of
    equals the lowest.
    """
    start = path_like(cwd)
    wholes = [_whole(path, cwd) for path in touched]
    best, most = start, -1
    for root in (start, *start.parents):
        prefix = f"{_plain(root)}/"
        known = sum(whole.startswith(prefix) and whole[len(prefix) :] in tree for whole in wholes)
        if known > most:
            best, most = root, known
    return best


def _heads(parts: list[str]) -> Iterable[str]:
    return ("/".join(parts[: place + 1]) for place in range(len(parts)))


def _whole(path: str, cwd: str) -> str:
    """Return a path as an absolute one with `/`, without `..`; one in a home as it stands."""
    if path.startswith("~"):
        return path
    if isinstance(path_like(cwd), PureWindowsPath):
        path, cwd = path.replace("\\", "/"), cwd.replace("\\", "/")
        if not PureWindowsPath(path).drive:
            path = posixpath.join(cwd, path)
    else:
        path = posixpath.join(cwd, path)
    return posixpath.normpath(path)


def _plain(root: PurePath) -> str:
    return root.as_posix().rstrip("/")


def _spellings(root: PurePath) -> tuple[str, ...]:
    """Return a root as written, and as it is without symbolic links where it still is."""
    written = _plain(root)
    if isinstance(root, PureWindowsPath):
        return (written,)
    try:
        return tuple(dict.fromkeys((written, _plain(Path(os.path.realpath(written))))))
    except OSError:
        return (written,)
