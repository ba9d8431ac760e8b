"""The files of a working tree or of a commit, as places to read a harness from."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import Final

from fairtrial.harness.belonging import PRIVATE, may_lead_to_some, part_of
from fairtrial.harness.trees import LONGEST, contents_of, inner_path, links_of
from fairtrial.model.errors import FairtrialError, NotFoundError
from fairtrial.workspaces.reading_git import Entry, Git
from fairtrial.workspaces.snapshots.git_program import GitError

_MOST_HOPS: Final = 40
_LINK: Final = "120000"


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
        return links_of(self.root, self._listed)

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
        if not belongs:  # tens of thousands, which need no look
            return True
        place = self.root / path
        return place.is_file() or place.is_symlink()

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
        return inner_path(self.root, path)

    def read(self, paths: Sequence[str]) -> dict[str, bytes | None]:
        """See `Tree.read`."""
        sparse = {path: self._sparse[path] for path in paths if path in self._sparse}
        kept = self.git.blobs(sparse.values())
        found: dict[str, bytes | None] = {
            path: kept[hash_] for path, hash_ in sparse.items() if hash_ in kept
        }
        return found | contents_of(self.root, [path for path in paths if path not in sparse])


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
        try:
            printed = self.git.run(*words, given=given) if wanted else b""
        except GitError:  # a partial clone, whose rest git may not fetch here
            printed = b""
        lines = printed.decode(errors="replace").split("\n")
        return {
            hash_: int(line) if line.isdigit() else -1
            for hash_, line in zip_longest(wanted, lines[: len(wanted)], fillvalue="")
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


@contextmanager
def told_of_git(git: Git) -> Iterator[None]:
    """Raise what goes wrong with git as an error that ends a command.

    Raises:
        FairtrialError: git failed.
    """
    try:
        yield
    except GitError as error:
        raise FairtrialError(
            "the harness cannot be read from git", where=str(git.folder), why=str(error)
        ) from error


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
        # As git goes up: `shop/../drafts` is not below `shop`.
        real = Path(os.path.realpath(folder))
        if not any((place / ".git").exists() for place in (real, *real.parents)):
            return None
        raise FairtrialError(
            "git does not read the repository", where=str(folder), why=str(error)
        ) from None
    return Git(Path(top), environ) if top else None


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


def _folders(path: str) -> Iterable[str]:
    folder = posixpath.dirname(path)
    while folder:
        yield folder
        folder = posixpath.dirname(folder)
