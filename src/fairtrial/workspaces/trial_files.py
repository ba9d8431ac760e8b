"""What the workspaces of all levels have in common: a folder, its files, its end."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import marshal
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Any, Self

from fairtrial.model.errors import TaskError, Undecidable, UsageError
from fairtrial.model.isolation import Held, Isolation, Level, Wanted
from fairtrial.ports import PreparedRepo, ProcessCall, ProcessResult, Workspace
from fairtrial.workspaces.cgroups import ControlGroups, Group
from fairtrial.workspaces.copying import archive_of, remove_tree
from fairtrial.workspaces.places import Places
from fairtrial.workspaces.relay import Relay
from fairtrial.workspaces.repository import (
    apply_command,
    diff_command,
    environment,
    new_repository,
)
from fairtrial.workspaces.sandbox.placing import NO_FILE, names_of
from fairtrial.workspaces.starting import small_program

_TOOL_LIMIT_S = 120.0
_ERROR_TEXT = 200


class Findings:
    """What was found to work on this machine, so that it is tried once and not for each trial.

    Attributes:
        overlay: Why no overlay can be had; empty when one can, None when not tried yet.
        groups: The same of joining control groups.
    """

    __slots__ = ("groups", "overlay")

    def __init__(self) -> None:
        self.overlay: str | None = None
        self.groups: str | None = None


@dataclass(frozen=True, slots=True)
class Means:
    """What workspaces are made with.

    Attributes:
        places: Gives folders.
        programs: Runs programs on this machine.
        groups: Makes control groups.
        environ: The environment of this process.
        data: Folders that no trial may see: the store, the prepared files, other workspaces.
        findings: What was found to work.
    """

    places: Places
    programs: Workspace
    groups: ControlGroups
    environ: Mapping[str, str]
    data: tuple[Path, ...]
    findings: Findings


class TrialFiles(ABC):
    """A `RepoWorkspace`, but for what a level does its own way."""

    level: Level

    def __init__(self, means: Means, repo: PreparedRepo, wanted: Wanted) -> None:
        self._means = means
        self._repo = repo
        self._wanted = wanted
        self._place: Path | None = None
        self._group = Group()
        self._relay: Relay | None = None
        self._held: tuple[Held, ...] = ()
        self._hits: dict[str, None] = {}
        self._image: str | None = None
        self._runs = 0
        self._running: set[asyncio.Task[ProcessResult]] = set()

    @property
    @abstractmethod
    def path(self) -> PurePosixPath:
        """See `RepoWorkspace.path`."""

    @property
    @abstractmethod
    def home(self) -> PurePosixPath:
        """See `RepoWorkspace.home`."""

    @property
    @abstractmethod
    def folder(self) -> Path:
        """The folder of the files on this machine, where tools find it."""

    @abstractmethod
    async def _make(self) -> tuple[Held, ...]:
        """Make the files of a new place, and say what will hold."""

    @abstractmethod
    async def _run(self, call: ProcessCall, number: int) -> ProcessResult:
        """Run a program of the trial."""

    @abstractmethod
    async def snapshot(self) -> PreparedRepo:
        """See `RepoWorkspace.snapshot`."""

    @property
    def isolation(self) -> Isolation:
        """See `RepoWorkspace.isolation`."""
        return Isolation(self.level, self._held, tuple(self._hits), self._image)

    @property
    def place(self) -> Path:
        """The workspace's own folder on this machine.

        Raises:
            Undecidable: it is closed.
        """
        if self._place is None:
            raise Undecidable("the workspace is closed: open it before a program runs")
        return self._place

    async def open(self) -> None:
        """See `Workspace.open`."""
        if self._place is not None:
            return
        try:
            self._place = self._means.places.new()
            for name in ("home", "tmp"):
                (self._place / name).mkdir()
            self._held = await self._make()
            if self._wanted.port is not None and self.level is not Level.NONE:
                self._relay = Relay(self._place, self._wanted.port)
                self._relay.open()
        except OSError as problem:
            await self.close()
            raise Undecidable(f"a workspace could not be made: {problem}") from problem
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """See `Workspace.close`."""
        place, self._place = self._place, None
        running = list(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        if self._relay is not None:
            await self._relay.close()
            self._relay = None
        if place is not None:
            await asyncio.to_thread(self._group.remove)
            with contextlib.suppress(OSError):  # what a container made as another user: see `sweep`
                await asyncio.to_thread(remove_tree, place)

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def run(self, call: ProcessCall) -> ProcessResult:
        """See `Workspace.run`."""
        _ = self.place
        self._runs += 1
        number = self._runs
        task = asyncio.ensure_future(self._run(call, number))
        self._running.add(task)
        try:
            return await task
        except asyncio.CancelledError:
            if self._place is None and not _cancelled():
                raise Undecidable(f"the workspace was closed while {call.argv[:1]} ran") from None
            raise
        finally:
            self._running.discard(task)
            self._hits |= dict.fromkeys(self._group.hits(self._wanted.limits))
            if self._relay is not None:
                await self._relay.forget(number)

    async def copy_in(self, files: Path | Mapping[str, bytes], to: str = ".") -> None:
        """See `RepoWorkspace.copy_in`."""
        root, below = self._root_of(to)
        archive = await asyncio.to_thread(archive_of, files, below)
        done = await self._tool(self._placing("put", str(root)), stdin=archive)
        if done.usage.exit_status != 0:
            raise Undecidable(f"files could not be put into the workspace: {_said(done)}")

    async def read(self, file: str, limit: int = 16 * 1024 * 1024) -> bytes | None:
        """See `RepoWorkspace.read`."""
        root, below = self._root_of(file)
        done = await self._tool(self._placing("get", str(root), below), limit=limit)
        if done.usage.exit_status == NO_FILE:
            return None
        if done.usage.exit_status != 0 and not done.truncated:
            raise Undecidable(f"{file!r} could not be read: {_said(done)}")
        return done.stdout

    async def files(self, folder: str = ".", limit: int = 10_000) -> Sequence[str]:
        """See `RepoWorkspace.files`."""
        root, below = self._root_of(folder)
        done = await self._tool(
            self._placing("list", str(root), below, str(limit)), limit=16 * 1024 * 1024
        )
        if done.usage.exit_status != 0:
            raise Undecidable(f"the files of {folder!r} could not be listed: {_said(done)}")
        return tuple(os.fsdecode(name) for name in done.stdout.split(b"\0")[:-1])

    async def apply(self, patch: bytes, leaving_out: Sequence[str] = ()) -> None:
        """See `RepoWorkspace.apply`."""
        if not patch.strip():
            return
        done = await self._git(apply_command(leaving_out), stdin=patch)
        if done.usage.exit_status != 0:
            raise TaskError(f"the patch does not apply: {_said(done)}")

    async def diff(self, limit: int = 16 * 1024 * 1024, leaving_out: Sequence[str] = ()) -> bytes:
        """See `RepoWorkspace.diff`."""
        done = await self._git(diff_command(self._repo.base, leaving_out), limit=limit)
        if done.truncated:
            raise Undecidable(f"the diff is larger than {limit:,} bytes", at_fault="task")
        if done.usage.exit_status != 0:
            full = os.strerror(errno.ENOSPC) in done.usage.stderr_tail
            raise Undecidable(
                f"git could not read the workspace: {_said(done)}",
                at_fault="platform" if full else "task",
            )
        return done.stdout

    async def _git(
        self, command: tuple[str, ...], *, stdin: bytes = b"", limit: int = 1024 * 1024
    ) -> ProcessResult:
        """Run git with a repository of our own beside the files."""
        git = self.place / "git"
        base = str(self._base_repository())
        await asyncio.to_thread(remove_tree, git)
        await asyncio.to_thread(new_repository, git, base, self._repo.git / "index")
        env = environment(str(self._own_repository()), str(self._files_of_tools()))
        try:
            return await self._tool(command, stdin=stdin, env=env, limit=limit, git=True)
        finally:
            await asyncio.to_thread(remove_tree, git)

    async def _limit(self) -> tuple[Held, ...]:
        """Make the control groups of the limits asked for; say which hold."""
        places = self._means.places
        self._group, held = await asyncio.to_thread(
            self._means.groups.make,
            places.name_of(self.place),
            self._wanted.limits,
            lambda path: places.note("group", path),
        )
        return held

    def _root_of(self, path: str) -> tuple[PurePosixPath, str]:
        """Return the folder that tools see a path below, and the path from there."""
        wanted = PurePosixPath(path)
        root = self._files_of_tools()
        for inside, outside in self._more_roots().items():
            if wanted.is_relative_to(inside):
                root, wanted = outside, wanted.relative_to(inside)
        if wanted.is_relative_to(self.path):
            wanted = wanted.relative_to(self.path)
        elif wanted.is_relative_to(self.home):
            root, wanted = self._home_of_tools(), wanted.relative_to(self.home)
        try:
            return root, "/".join(names_of(str(wanted)))
        except ValueError:
            raise UsageError(
                f"{path!r} is not in the workspace",
                fix=f"give a path below {self.path} or {self.home}",
            ) from None

    def _more_roots(self) -> Mapping[PurePosixPath, PurePosixPath]:
        """Return where tools see the folders of `Wanted.folders`, by where programs see them."""
        return {}

    # Tools are programs of fairtrial's own that work on the trial's files. Where files have a
    # folder on this machine, they run on this machine; none follows a link or runs what it finds.

    def _files_of_tools(self) -> PurePosixPath:
        return PurePosixPath(self.folder)

    def _home_of_tools(self) -> PurePosixPath:
        return PurePosixPath(self.place / "home")

    def _own_repository(self) -> PurePosixPath:
        return PurePosixPath(self.place / "git")

    def _base_repository(self) -> PurePosixPath:
        return PurePosixPath(self._repo.git)

    def _placing(self, *words: str) -> tuple[str, ...]:
        return small_program("placing", *words)

    async def _tool(
        self,
        argv: tuple[str, ...],
        *,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        limit: int = 1024 * 1024,
        git: bool = False,  # noqa: ARG002  # where tools see all files, there is nothing to do
    ) -> ProcessResult:
        call = ProcessCall(
            argv, stdin, self._tool_environment(env), self.folder, _TOOL_LIMIT_S, limit
        )
        return await self._means.programs.run(call)

    def _tool_environment(self, env: Mapping[str, str] | None) -> dict[str, str]:
        return {"PATH": self._means.environ.get("PATH", os.defpath), **(env or {})}

    async def _start(
        self, module: str, order: Mapping[str, Any], call: ProcessCall, number: int
    ) -> tuple[ProcessResult, dict[str, Any]]:
        """Let a small program run an order in the place of a call; return what it noted."""
        file = self.place / f"order-{number}"
        noted = self.place / f"order-{number}.status"
        file.write_bytes(marshal.dumps(dict(order)))  # the place is nobody else's to read
        inner = replace(call, argv=small_program(module, file.name), env=_ASIDE, cwd=self.place)
        try:
            result = await self._means.programs.run(inner)
            notes: dict[str, Any] = _notes(noted)
        finally:
            file.unlink(missing_ok=True)
            noted.unlink(missing_ok=True)
        return result, notes


_ASIDE = {"PATH": os.defpath, "LC_ALL": "C.UTF-8"}


def check_words(call: ProcessCall) -> None:
    """Refuse what no system could start.

    Raises:
        TaskError: the call is empty, or holds a NUL character.
    """
    if not call.argv or not call.argv[0]:
        raise TaskError("the command is empty: name a program to run")
    for word in (*call.argv, *call.env, *call.env.values(), str(call.cwd)):
        if "\0" in word:
            raise TaskError(
                f"{word!r} holds a NUL character, which no argument, variable or path may: "
                "pass such data on standard input"
            )


def _cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _notes(file: Path) -> dict[str, Any]:
    """Return what a small program has written; nothing when it was killed before."""
    try:
        notes: dict[str, Any] = marshal.loads(file.read_bytes())  # noqa: S302  # our own program
    except (OSError, EOFError, ValueError, TypeError):
        return {}
    return notes


def _said(done: ProcessResult) -> str:
    text = done.usage.stderr_tail.strip().rpartition("\n")[2]
    return text[-_ERROR_TEXT:] or f"exit status {done.usage.exit_status}"
