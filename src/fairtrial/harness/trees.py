"""The files of a folder, as a place to read a harness from."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, Protocol

from fairtrial.harness.belonging import may_lead_to_some, part_of
from fairtrial.model.errors import FairtrialError, UsageError

LONGEST: Final = 1 << 20
"""Bytes of a file of a harness; a longer one is no text that steers an agent."""
_MOST_WALKED: Final = 200_000
_NO_FOLDERS: Final = frozenset({".git", "node_modules", "site-packages", ".venv", "venv"})


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
        return links_of(self.root, self._all)

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
        return inner_path(self.root, path)

    def read(self, paths: Sequence[str]) -> dict[str, bytes | None]:
        """See `Tree.read`."""
        return contents_of(self.root, paths)


def inner_path(root: Path, path: str) -> str | None:
    """Return a path without symbolic links in it; None when it leads out of a folder."""
    top = os.path.realpath(root)
    found = os.path.realpath(root / path)
    inside = found.startswith(top + os.sep)
    return os.path.relpath(found, top).replace(os.sep, "/") if inside else None


def links_of(root: Path, paths: Iterable[str]) -> dict[str, str]:
    """Return what symbolic links say, of paths that may matter."""
    found = {}
    for path in paths:
        if part_of(path) or may_lead_to_some(path):
            try:
                found[path] = str((root / path).readlink())
            except OSError:  # no link
                continue
    return found


def contents_of(root: Path, paths: Sequence[str]) -> dict[str, bytes | None]:
    """Return contents of files in a folder, as `Tree.read` does.

    Raises:
        FairtrialError: a file cannot be read.
    """
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
