"""Places for the files of a trial: prepared once, given to each trial as its own."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Protocol, Self

from fairtrial.model.isolation import Isolation, LevelStatus, Wanted
from fairtrial.ports.programs import Workspace


@dataclass(frozen=True, slots=True)
class PreparedRepo:
    """Files that stand ready for any number of trials. Nobody changes them.

    Attributes:
        key: What names it; equal keys mean equal files.
        layers: Folders that lie on one another, the upper ones first; the last one is whole. An
            upper one is an overlay's, so only this package's workspaces read it.
        base: The id of the git tree that `RepoWorkspace.diff` compares with.
        git: The bare repository of that tree, apart from any `.git` among the files.
    """

    key: str
    layers: tuple[Path, ...]
    base: str
    git: Path


def exactly(path: str) -> str:
    """Return the glob that fits one path alone."""
    return re.sub(r"[\\*?\[]", r"\\\g<0>", path)


class RepoWorkspace(Workspace, Protocol):
    """The files of one trial, and the place where programs work on them.

    It is a `Workspace` with a folder: `run` takes the same calls and gives the same results. A
    relative `cwd` of a call starts at `path`. At a level above `none`, an absolute one, and every
    path that a program names, is one *inside*; `HOME` and `TMPDIR` of a call's environment are
    replaced by folders of the trial's own. Of what programs write, only `path`, `home` and `/tmp`
    outlast a call, and none of it outlasts the workspace.

    Use it in `async with`: entering makes it, leaving removes every file, process, mount, limit
    and container of it. What a killed runner leaves is removed by `Workspaces.sweep`.
    """

    @property
    def path(self) -> PurePosixPath:
        """The folder of the files, as its programs see it."""
        ...

    @property
    def home(self) -> PurePosixPath:
        """An empty home folder of its own, as its programs see it."""
        ...

    @property
    def isolation(self) -> Isolation:
        """What has held so far, and which limits were hit."""
        ...

    async def copy_in(self, files: Path | Mapping[str, bytes], to: str = ".") -> None:
        """Put files into the workspace, over what is there.

        Nothing is written outside the workspace, whatever links a trial has left in it.

        Args:
            files: A folder or a file to copy, with its modes; or contents by relative path.
            to: Where they go: a folder, relative to `path`; or absolute, below `path` or `home`.
                A single file keeps its name.

        Raises:
            UsageError: a path or a symbolic link among the files leads out of them.
            Undecidable: the workspace was lost, or is full.
        """
        ...

    async def read(self, file: str, limit: int = 16 * 1024 * 1024) -> bytes | None:
        """Return a file's content, at most `limit` bytes; None when it is no regular file.

        No symbolic link is followed. `file` is relative to `path`, or absolute below `path` or
        `home`.
        """
        ...

    async def files(self, folder: str = ".", limit: int = 10_000) -> Sequence[str]:
        """Return the regular files below a folder, relative to it, in order; none without it.

        `folder` is relative to `path`, or absolute below `path` or `home`. No symbolic link is
        followed.
        """
        ...

    async def apply(self, patch: bytes, leaving_out: Sequence[str] = ()) -> None:
        """Apply a patch that `diff` gave, or one like it, whole or not at all.

        Args:
            patch: The patch; an empty one changes nothing.
            leaving_out: Globs of files, relative to `path`, whose changes are not applied; a star
                matches slashes too. `exactly` makes one of a path.

        Raises:
            TaskError: it does not apply; the message says where.
            Undecidable: the workspace was lost.
        """
        ...

    async def diff(self, limit: int = 16 * 1024 * 1024, leaving_out: Sequence[str] = ()) -> bytes:
        """Return what has changed since the start, as a patch that `git apply` takes.

        New files that a `.gitignore` names are left out. Commits, hooks and settings of a
        repository among the files play no part.

        Args:
            limit: Bytes that it may have.
            leaving_out: Paths of files whose changes are not told.

        Raises:
            Undecidable: it is larger than `limit`, or git could not read the files.
        """
        ...

    async def snapshot(self) -> PreparedRepo:
        """Return the files as they are now, for further workspaces.

        It lasts as long as the `Workspaces` it came from; `Workspaces.discard` ends it earlier.
        """
        ...

    async def __aenter__(self) -> Self:
        """Make the place."""
        ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove it."""
        ...


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """What is known of an image on this machine.

    Attributes:
        name: Its name.
        id: The digest of its content.
        workdir: The folder that its programs start in.
    """

    name: str
    id: str
    workdir: str


class Images(Protocol):
    """Images of podman or docker on this machine."""

    async def facts(self, image: str) -> ImageFacts:
        """Return what is known of an image.

        Raises:
            UsageError: it is not on this machine; none is fetched.
        """
        ...

    async def build(self, context: Path, dockerfile: str, limit_s: float) -> str:
        """Return the name of the image of a Dockerfile, built when it is not there yet.

        It is named after all that it is built from, so equal folders are one image.

        Args:
            context: The folder that it is built in.
            dockerfile: The text of the Dockerfile.
            limit_s: Seconds that it may take.

        Raises:
            UsageError: an image that it begins with is not on this machine; none is fetched.
            InfraError: it was not built; the message has the engine's last words.
        """
        ...

    async def copy_out(self, image: str, folder: str, target: Path) -> None:
        """Copy what an image holds at a folder into one on this machine; nothing when it is not.

        Raises:
            InfraError: the engine failed.
        """
        ...


class Workspaces(Protocol):
    """Makes workspaces, and knows what of them is left on this machine."""

    async def prepare(self, key: str, fill: Callable[[Path], Awaitable[None]]) -> PreparedRepo:
        """Return the files of a key; those that are not there yet are made.

        Args:
            key: A name for the content, such as a hash of a commit and a patch.
            fill: Writes the files into an empty folder. It is called once for a key, also when
                several processes ask at once; what it raises is passed on and leaves nothing.
        """
        ...

    def workspace(self, repo: PreparedRepo, wanted: Wanted) -> RepoWorkspace:
        """Return a new workspace with the files of a repo, to be entered.

        Raises:
            UsageError: the level does not work here, or `wanted` does not fit it.
        """
        ...

    def images(self) -> Images:
        """Return the images of this machine.

        Raises:
            UsageError: neither podman nor docker works here.
        """
        ...

    def discard(self, repo: PreparedRepo) -> None:
        """Remove a snapshot; workspaces that use it must have ended. Safe to repeat."""
        ...

    async def probe(self) -> tuple[LevelStatus, ...]:
        """Try every level on this machine and say what it would guarantee."""
        ...

    def sweep(self) -> tuple[str, ...]:
        """Remove what killed runners have left; return what was removed, in words."""
        ...
