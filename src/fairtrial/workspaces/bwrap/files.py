"""The workspace of level `bwrap`."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from fairtrial.model.errors import TaskError, Undecidable
from fairtrial.model.isolation import Guarantee, Held, Level, Wanted
from fairtrial.ports import PreparedRepo, ProcessCall, ProcessResult
from fairtrial.workspaces.bwrap import view
from fairtrial.workspaces.cgroups import Group
from fairtrial.workspaces.flattening import copied_layer, copy_of
from fairtrial.workspaces.sandbox import launch
from fairtrial.workspaces.starting import small_source
from fairtrial.workspaces.trial_files import Means, TrialFiles, check_words

WORKSPACE, HOME = PurePosixPath("/workspace"), PurePosixPath("/home/trial")
_TMP = "/tmp"  # noqa: S108  # the trial's own
_OWN_GIT, _BASE_GIT, _TARGET = "/run/git", "/run/base.git", "/run/target"
_TOOL_LIMIT_S = 120.0
_NAMESPACES = (
    "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
    "--die-with-parent", "--new-session", "--hostname", "trial", "--cap-drop", "ALL",
)  # fmt: skip
_EXEC_FAILED = re.compile(r"^bwrap: execvp (.+): (.+)$", re.MULTILINE)
_NO_FOLDER = re.compile(r"^bwrap: Can't chdir to (.+): (.+)$", re.MULTILINE)


_NO_GROUP = Group()


class SandboxError(Undecidable):
    """A sandbox could not be made.

    Attributes:
        step: What failed.
    """

    def __init__(self, step: str, why: str) -> None:
        super().__init__(f"{step} could not be made: {why}")
        self.step = step


class BwrapFiles(TrialFiles):
    """Files laid over the prepared ones, in user, mount, process and network namespaces."""

    level = Level.BWRAP

    def __init__(self, means: Means, repo: PreparedRepo, wanted: Wanted) -> None:
        super().__init__(means, repo, wanted)
        self._lower: tuple[Path, ...] = ()
        self._processes: int | None = None
        self._one_at_a_time = asyncio.Lock()  # two overlays with one upper folder know no order

    @property
    def path(self) -> PurePosixPath:
        """See `RepoWorkspace.path`."""
        return WORKSPACE

    @property
    def home(self) -> PurePosixPath:
        """See `RepoWorkspace.home`."""
        return HOME

    @property
    def folder(self) -> Path:
        """Where the files are in the mount namespace of a call: the overlay, or a copy."""
        return self.place / "merged"

    async def snapshot(self) -> PreparedRepo:
        """See `RepoWorkspace.snapshot`."""
        if not self._lower:
            return await copied_layer(self._means.places, self._repo, self.folder)
        place = self._means.places.new()
        layer = place / "layer"
        (self.place / "upper").rename(layer)  # what is written from now on goes to a new layer
        (self.place / "upper").mkdir()
        self._lower = (layer, *self._lower)
        key = f"{self._repo.key}+{self._means.places.name_of(place)}"
        return replace(self._repo, key=key, layers=self._lower)

    async def copy_out(self, target: Path) -> ProcessResult:
        """Copy the files into a folder of this machine, which is there."""
        binds = ["--bind", str(target), _TARGET]
        call = ProcessCall(
            ("cp", "-a", "--reflink=auto", "--", f"{WORKSPACE}/.", _TARGET),
            b"",
            self._tool_environment(None),
            Path(WORKSPACE),
            _TOOL_LIMIT_S,
        )
        self._runs += 1
        return await self._sandboxed(call, self._runs, binds)

    async def _make(self) -> tuple[Held, ...]:
        for name in ("merged", "upper", "work"):
            (self.place / name).mkdir()
        limits = await self._limit()
        self._lower = self._repo.layers
        await self._find_out()
        found = self._means.findings
        if found.groups and self._group.folders:
            limits = tuple(replace(held, holds=False, how=found.groups) for held in limits)
            await asyncio.to_thread(self._group.remove)
            self._group = Group()
        how = "an overlay"
        if found.overlay and len(self._lower) > 1:
            raise SandboxError(launch.OVERLAY, found.overlay)
        if found.overlay or not self._wanted.overlay:
            self._lower = ()
            self.folder.rmdir()
            how = await copy_of(self._means, self._repo, self.folder)
            how += f", since an overlay does not work: {found.overlay}" if found.overlay else ""
        port = self._wanted.port
        reached = "nothing" if port is None else f"only port {port} of 127.0.0.1"
        return (
            Held(Guarantee.COPY, holds=True, how=how),
            Held(Guarantee.FILES, holds=True, how="a mount namespace; the system is read-only"),
            Held(Guarantee.NETWORK, holds=True, how=f"a network namespace: {reached} is reached"),
            Held(Guarantee.PROCESSES, holds=True, how="a process namespace that dies with us"),
            *map(self._or_by_namespace, limits),
        )

    def _or_by_namespace(self, held: Held) -> Held:
        """Return a limit that no control group holds as one that the user namespace does."""
        most = self._wanted.limits.processes
        if held.what is not Guarantee.PROCESS_COUNT or held.holds or not counts_by_namespace():
            return held
        self._processes = most
        how = f"{most:,} by RLIMIT_NPROC in a user namespace of its own"
        return Held(held.what, holds=True, how=how)

    async def _find_out(self) -> None:
        """Run nothing, once, to see what works here.

        Raises:
            Undecidable: no sandbox can be made.
        """
        found = self._means.findings
        groups = self._group
        while found.overlay is None or (groups.folders and found.groups is None):
            lower, self._lower = self._lower, () if found.overlay else self._lower
            call = ProcessCall(("true",), b"", self._tool_environment(None), Path("/"), 60.0)
            try:
                await self._sandboxed(call, 0, groups=groups)
            except SandboxError as problem:
                if problem.step == launch.CONTROL_GROUP:
                    found.groups, groups = str(problem), Group()
                elif problem.step == launch.OVERLAY:
                    found.overlay = str(problem)
                else:
                    raise
            except TaskError as problem:
                raise SandboxError("its system", str(problem)) from None
            else:
                found.overlay = found.overlay or ""
                if groups.folders:
                    found.groups = ""
            finally:
                self._lower = lower

    async def _run(self, call: ProcessCall, number: int) -> ProcessResult:
        check_words(call)
        return await self._sandboxed(call, number, groups=self._group, port=self._wanted.port)

    async def _sandboxed(
        self,
        call: ProcessCall,
        number: int,
        binds: Sequence[str] = (),
        *,
        groups: Group = _NO_GROUP,
        port: int | None = None,
    ) -> ProcessResult:
        order = {
            "program": bwrap_path(self._means.environ),
            "bwrap": self._options(call, binds),
            "argv": call.argv,
            "cgroups": [str(folder) for folder in groups.folders],
            "lower": [str(folder) for folder in self._lower],
            "port": port,
            "processes": self._processes if groups is not _NO_GROUP else None,
            "run": number,
        }
        if self._lower:
            async with self._one_at_a_time:
                result, notes = await self._start("launch", order, call, number)
        else:
            result, notes = await self._start("launch", order, call, number)
        if notes.get("problem"):
            raise SandboxError(*notes["problem"])
        if notes and not notes["started"] and not result.timed_out:
            raise _not_started(call, result)
        return result

    def _options(self, call: ProcessCall, binds: Sequence[str]) -> list[str]:
        means, place = self._means, self.place
        path = call.env.get("PATH", os.defpath)
        folders = view.visible_folders(means.environ, path, self._wanted.visible)
        env = {**call.env, "HOME": str(HOME), "TMPDIR": _TMP}
        return [
            *_NAMESPACES,
            "--clearenv",
            *(word for name, value in env.items() for word in ("--setenv", name, value)),
            *view.system_view(),
            "--bind", str(place / "tmp"), _TMP,
            *view.shown(folders),
            *view.hidden(folders, means.environ, means.data),
            "--bind", str(place / "home"), str(HOME),
            "--bind", str(self.folder), str(WORKSPACE),
            *binds,
            "--remount-ro", "/",
            "--chdir", str(WORKSPACE / PurePosixPath(call.cwd)),
        ]  # fmt: skip

    # Tools run in a sandbox as well, since the files have no other place.

    def _files_of_tools(self) -> PurePosixPath:
        return WORKSPACE

    def _home_of_tools(self) -> PurePosixPath:
        return HOME

    def _own_repository(self) -> PurePosixPath:
        return PurePosixPath(_OWN_GIT)

    def _base_repository(self) -> PurePosixPath:
        return PurePosixPath(_BASE_GIT)

    def _placing(self, *words: str) -> tuple[str, ...]:
        return small_source("placing", *words)

    async def _tool(
        self,
        argv: tuple[str, ...],
        *,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        limit: int = 1024 * 1024,
        git: bool = False,
    ) -> ProcessResult:
        binds = []
        if git:
            binds += ["--bind", str(self.place / "git"), _OWN_GIT]
            binds += ["--ro-bind", str(self._repo.git), _BASE_GIT]
        call = ProcessCall(
            argv, stdin, self._tool_environment(env), Path(WORKSPACE), _TOOL_LIMIT_S, limit
        )
        self._runs += 1
        return await self._sandboxed(call, self._runs, binds)


def counts_by_namespace() -> bool:
    """Tell whether a limit of processes counts those of a user namespace alone.

    Linux does so since 5.14, and exempts root.
    """
    version = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return (
        os.getuid() != 0 and version is not None and (int(version[1]), int(version[2])) >= (5, 14)
    )


def bwrap_path(environ: Mapping[str, str]) -> str:
    """Return the path of bwrap.

    Raises:
        Undecidable: it is not on `PATH`.
    """
    path = shutil.which("bwrap", path=environ.get("PATH"))
    if path is None:
        raise Undecidable("bwrap is not on PATH: install bubblewrap")
    return path


def _not_started(call: ProcessCall, result: ProcessResult) -> TaskError | Undecidable:
    said = result.usage.stderr_tail
    if (match := _NO_FOLDER.search(said)) is not None:
        return TaskError(
            f"the working directory {match[1]!r} cannot be entered ({match[2]}): "
            "create it, or correct the task's `cwd`"
        )
    if (match := _EXEC_FAILED.search(said)) is not None:
        advice = "it has to be in the image of the system, in PATH or in a folder made visible"
        if match[2] == os.strerror(errno.EACCES):
            advice = "it is not executable"
        return TaskError(f"program {call.argv[0]!r} could not be started ({match[2]}): {advice}")
    if result.usage.signal is not None or result.truncated:
        return Undecidable("the sandbox was killed before its program began: run this again")
    return SandboxError("the sandbox", said.strip())
