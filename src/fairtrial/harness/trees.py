"""The files of a folder, of a working tree or of a commit: three places to read a harness from."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final, Protocol

from fairtrial.harness.belonging import PRIVATE, may_lead_to_some, part_of
from fairtrial.model.errors import FairtrialError, NotFoundError, UsageError
from fairtrial.workspaces.reading_git import Entry, Git
from fairtrial.workspaces.snapshots.git_program import GitError

LONGEST: Final = 1 << 20
"""Bytes of a file of a harness; a longer one is no text that steers an agent."""
_MOST_HOPS: Final = 40
_MOST_WALKED: Final = 200_000
_NO_FOLDERS: Final = frozenset({".git", "node_modules", "site-packages", ".venv", "venv"})
_LINK: Final = "120000"


class Tree(Protocol):
    """Files by their paths from a root."""

    @property
    def links(self) -> Mapping[str, str]:
        """What each symbolic link that matters says, as it is written."""
        ...

    @property
    def private(self) -> frozenset[str]:
        """Paths that are there but are no part of the repository: git ignores them."""
        ...

    def paths(self) -> Iterable[str]:
        """Return the paths of all files and links that count."""
        ...

    def has(self, path: str) -> bool:
        """Return whether there is a file, or a link, also one that does not count by itself."""
        ...

    def resolve(self, path: str) -> str | None:
        """Return the path without symbolic links in it; None when it leads out of the tree."""
        ...

    def read(self, paths: Sequence[str]) -> dict[str, bytes | None]:
        """Return contents; None of what is longer than `LONGEST`. What is not there is left out.

        Raises:
            FairtrialError: a file cannot be read.
        """
        ...


def _resolved(links: Mapping[str, str], path: str) -> str | None:
    for _ in range(_MOST_HOPS):
        at = next((head for head in _heads(path) if head in links), None)
        if at is None:
            return path
        target, rest = links[at], path[len(at) :]
        if target.startswith("/"):
            return None
        path = posixpath.normpath(posixpath.join(posixpath.dirname(at), target)) + rest
        if path == ".." or path.startswith("../"):
            return None
    return None


def _heads(path: str) -> Iterable[str]:
    at = path.find("/")
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)
    yield path


@dataclass(frozen=True)
class FolderTree:
    """A folder that is not looked at as a repository: all that is in it.

    Attributes:
        root: The folder.
    """

    root: Path
    private: frozenset[str] = frozenset()

    @cached_property
    def links(self) -> Mapping[str, str]:
        """See `Tree.links`."""
        return _links(self.root, self._all)

    @cached_property
    def _all(self) -> Sequence[str]:
        found: list[str] = []
        for folder, folders, files in os.walk(self.root):
            at = Path(folder)
            linked = [name for name in folders if (at / name).is_symlink()]
            folders[:] = sorted(set(folders) - _NO_FOLDERS - set(linked))
            here = at.relative_to(self.root)
            found += [(here / name).as_posix() for name in [*files, *linked]]
            if len(found) > _MOST_WALKED:
                raise UsageError(
                    f"there are over {_MOST_WALKED:,} files in the folder",
                    where=str(self.root),
                    fix="name the folder that holds the harness alone",
                )
        return sorted(found)

    def paths(self) -> Iterable[str]:
        """See `Tree.paths`."""
        return self._all

    def has(self, path: str) -> bool:
        """See `Tree.has`."""
        return os.path.lexists(self.root / path)

    def resolve(self, path: str) -> str | None:
        """See `Tree.resolve`."""
        return _real(self.root, path)

    def read(self, paths: Sequence[str]) -> dict[str, bytes | None]:
        """See `Tree.read`."""
        return _read(self.root, paths)


@dataclass(frozen=True)
class WorkTree:
    """The files of a working tree as they are: tracked ones and those that git does not ignore.

    Attributes:
        git: Git in the root of the working tree.
    """

    git: Git
    _seen_private: set[str] = field(default_factory=set)

    @property
    def root(self) -> Path:
        """The folder."""
        return self.git.folder

    @cached_property
    def links(self) -> Mapping[str, str]:
        """See `Tree.links`."""
        return _links(self.root, self._listed)

    @property
    def private(self) -> frozenset[str]:
        """See `Tree.private`."""
        return frozenset(self._seen_private)

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self._listed)

    @cached_property
    def _listed(self) -> Sequence[str]:
        words = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
        # A folder of another repository, a worktree or a submodule, ends with a slash or is one.
        found = (path for path in self.git.paths(*words) if not path.endswith("/"))
        return sorted(path for path in found if path in self._sparse or self._is_there(path))

    @cached_property
    def _sparse(self) -> Mapping[str, str]:
        """Files that a sparse checkout leaves out, and their hashes: they are no edits."""
        tagged = self.git.paths("ls-files", "-z", "-t", "--cached")
        absent = {line[2:] for line in tagged if line.startswith("S ")}
        if not absent:
            return {}
        found = {}
        for line in self.git.paths("ls-files", "-z", "--stage"):
            facts, _, path = line.partition("\t")
            if path in absent and part_of(path) and not self._is_there(path):
                found[path] = facts.split(" ")[1]
        return found

    def _is_there(self, path: str) -> bool:
        belongs = part_of(path) is not None or may_lead_to_some(path)
        place = self.root / path
        # Thousands of other files need no look.
        return not belongs or place.is_file() or place.is_symlink()

    def paths(self) -> Iterable[str]:
        """See `Tree.paths`."""
        folders = {head for path in self._listed for head in _folders(path)} | {""}
        beside = (posixpath.join(folder, PRIVATE) for folder in folders)
        own = {path for path in beside if path not in self._known and self._is_file(path)}
        own = {path for path in own if part_of(path)}
        self._seen_private.update(own)
        return sorted({*self._listed, *own})

    def _is_file(self, path: str) -> bool:
        return (self.root / path).is_file()

    def has(self, path: str) -> bool:
        """See `Tree.has`."""
        there = path in self._sparse or self._is_file(path)
        if there and path not in self._known:
            self._seen_private.add(path)
        return there

    def resolve(self, path: str) -> str | None:
        """See `Tree.resolve`."""
        return _real(self.root, path)

    def read(self, paths: Sequence[str]) -> dict[str, bytes | None]:
        """See `Tree.read`."""
        sparse = {path: self._sparse[path] for path in paths if path in self._sparse}
        kept = self.git.blobs(sparse.values())
        found: dict[str, bytes | None] = {
            path: kept[hash_] for path, hash_ in sparse.items() if hash_ in kept
        }
        return found | _read(self.root, [path for path in paths if path not in sparse])


@dataclass(frozen=True)
class CommitTree:
    """The files of a commit; nothing is checked out.

    Attributes:
        git: Git in the repository.
        commit: The whole hash of the commit.
    """

    git: Git
    commit: str
    private: frozenset[str] = frozenset()

    @cached_property
    def _tree(self) -> Mapping[str, Entry]:
        return self.git.tree(self.commit)

    @cached_property
    def _entries(self) -> Mapping[str, str]:
        return {path: entry.hash for path, entry in self._tree.items() if not entry.is_submodule}

    @cached_property
    def links(self) -> Mapping[str, str]:
        """See `Tree.links`."""
        linked = {path: entry.hash for path, entry in self._tree.items() if entry.mode == _LINK}
        contents = self.git.blobs(linked.values())
        known = {path: hash_ for path, hash_ in linked.items() if hash_ in contents}
        return {path: os.fsdecode(contents[hash_]) for path, hash_ in known.items()}

    def paths(self) -> Iterable[str]:
        """See `Tree.paths`."""
        return self._entries

    def has(self, path: str) -> bool:
        """See `Tree.has`."""
        return path in self._entries

    def resolve(self, path: str) -> str | None:
        """See `Tree.resolve`."""
        return _resolved(self.links, path)

    def read(self, paths: Sequence[str]) -> dict[str, bytes | None]:
        """See `Tree.read`."""
        wanted = {path: self._entries[path] for path in paths if path in self._entries}
        sizes = self._sizes(wanted.values())
        contents = self.git.blobs(h for h in wanted.values() if 0 <= sizes[h] <= LONGEST)
        lost = [path for path, hash_ in wanted.items() if sizes[hash_] < 0]
        if lost:
            raise FairtrialError(
                f"git has no content of {lost[0]} at {self.commit[:12]}",
                where=str(self.git.folder),
                why="the clone is a partial one, or damaged",
                fix="fetch it: git fetch --refetch --no-filter",
            )
        return {path: contents.get(hash_) for path, hash_ in wanted.items()}

    def _sizes(self, hashes: Iterable[str]) -> dict[str, int]:
        wanted = list(dict.fromkeys(hashes))
        given = "".join(f"{hash_}\n" for hash_ in wanted).encode()
        words = ("cat-file", "--batch-check=%(objectsize)")
        printed = self.git.run(*words, given=given) if wanted else b""
        lines = printed.decode(errors="replace").split("\n")
        return {
            hash_: int(line) if line.isdigit() else -1
            for hash_, line in zip(wanted, lines, strict=False)
        }


def commit_tree(git: Git, revision: str) -> CommitTree:
    """Return the tree of a commit by its name.

    Raises:
        NotFoundError: there is no such commit.
    """
    commit = git.commit(revision)
    if commit is None:
        raise NotFoundError(
            f"there is no commit {revision!r}",
            where=str(git.folder),
            fix="see git log --oneline; a commit of a remote needs git fetch",
        )
    return CommitTree(git, commit)


def git_at(folder: Path, environ: Mapping[str, str]) -> Git | None:
    """Return git in the root of the working tree around a folder; None when there is none.

    Raises:
        FairtrialError: there is a repository that git does not read.
        NotFoundError: there is no git.
    """
    git = Git(folder, environ)
    try:
        top = os.fsdecode(git.run("rev-parse", "--show-toplevel")).removesuffix("\n")
    except GitError as error:
        if not any((place / ".git").exists() for place in (folder, *folder.parents)):
            return None
        raise FairtrialError(
            "git does not read the repository", where=str(folder), why=str(error)
        ) from None
    return Git(Path(top), environ) if top else None


def _real(root: Path, path: str) -> str | None:
    top = os.path.realpath(root)
    found = os.path.realpath(root / path)
    inside = found.startswith(top + os.sep)
    return os.path.relpath(found, top).replace(os.sep, "/") if inside else None


def _folders(path: str) -> Iterable[str]:
    folder = posixpath.dirname(path)
    while folder:
        yield folder
        folder = posixpath.dirname(folder)


def _links(root: Path, paths: Iterable[str]) -> dict[str, str]:
    found = {}
    for path in paths:
        if part_of(path) or may_lead_to_some(path):
            try:
                found[path] = str((root / path).readlink())
            except OSError:  # no link
                continue
    return found


def _read(root: Path, paths: Sequence[str]) -> dict[str, bytes | None]:
    found: dict[str, bytes | None] = {}
    for path in paths:
        place = root / path
        if not place.is_file():
            continue
        try:
            with place.open("rb") as file:
                data = file.read(LONGEST + 1)
        except OSError as error:
            raise FairtrialError(
                f"{path} cannot be read", where=str(root), why=error.strerror or str(error)
            ) from None
        found[path] = data if len(data) <= LONGEST else None
    return found
