"""The workspace of level `image`."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from fairtrial.model.errors import TaskError, Undecidable, UsageError
from fairtrial.model.isolation import Guarantee, Held, Level, Wanted
from fairtrial.ports import PreparedRepo, ProcessCall, ProcessResult
from fairtrial.workspaces.flattening import copied_layer, copy_of
from fairtrial.workspaces.image.engines import LABEL, Engine
from fairtrial.workspaces.trial_files import Means, TrialFiles, check_words

_WORKSPACE, HOME = PurePosixPath("/workspace"), PurePosixPath("/home/trial")
_GO = "/run/trial"
_WAIT = f'read -r _ < {_GO}/pipe; exec "$@"'
"""Holds the program back until its port is there."""
_ITS_FAULT = re.compile("permission denied|exec format error|no such file", re.IGNORECASE)
_INIT_FAILED = re.compile(r"catatonit.*failed to exec|\[FATAL tini .*exec .* failed")
_CANNOT_RUN, _NOT_FOUND = 126, 127
_NO_INIT = "; without an init (catatonit), so that its program is process 1"
_SECURITY = ("--cap-drop", "ALL", "--security-opt", "no-new-privileges")


class ImageFiles(TrialFiles):
    """A copy of the files, and a new container for each call."""

    level = Level.IMAGE

    def __init__(self, means: Means, repo: PreparedRepo, wanted: Wanted, engine: Engine) -> None:
        super().__init__(means, repo, wanted)
        self._engine = engine
        self._left: set[str] = set()
        self._path = PurePosixPath(wanted.workdir or _WORKSPACE)
        if not self._path.is_absolute() or self._path == PurePosixPath("/"):
            raise UsageError(
                f"the files of a trial cannot lie at {str(self._path)!r} in an image",
                why="they are laid over what the image holds there",
                fix="give the image a WORKDIR, or the task a workdir in [environment]",
            )

    @property
    def path(self) -> PurePosixPath:
        """See `RepoWorkspace.path`."""
        return self._path

    @property
    def home(self) -> PurePosixPath:
        """See `RepoWorkspace.home`."""
        return HOME

    @property
    def folder(self) -> Path:
        """See `TrialFiles.folder`."""
        return self.place / "files"

    async def snapshot(self) -> PreparedRepo:
        """See `RepoWorkspace.snapshot`."""
        return await copied_layer(self._means.places, self._repo, self.folder)

    async def close(self) -> None:
        """See `Workspace.close`."""
        await super().close()
        left, self._left = self._left, set()
        for name in left:
            await asyncio.to_thread(self._engine.remove, name)

    async def _make(self) -> tuple[Held, ...]:
        if "," in str(self.place):
            raise UsageError(
                "a container cannot be given a folder with a comma in its path",
                where=str(self.place),
                fix="set FAIRTRIAL_HOME to another folder",
            )
        self._image = await asyncio.to_thread(
            self._engine.image_id, self._wanted.image or "", pull=self._wanted.pull
        )
        how = await copy_of(self._means, self._repo, self.folder)
        (self.place / "tmp").chmod(0o1777)
        (self.place / "go").mkdir()
        for number, _ in enumerate(self._wanted.folders):
            (self.place / f"own-{number}").mkdir()
        os.mkfifo(self.place / "go" / "pipe")
        self._means.places.note("engine", self._engine.path)
        port = self._wanted.port
        reached = "nothing" if port is None else f"only port {port} of 127.0.0.1"
        return (
            Held(Guarantee.COPY, holds=True, how=how),
            Held(Guarantee.FILES, holds=True, how="a container, which has the trial's own only"),
            Held(Guarantee.NETWORK, holds=True, how=f"--network none: {reached} is reached"),
            Held(
                Guarantee.PROCESSES,
                holds=True,
                how="a container for each call" + ("" if self._engine.init else _NO_INIT),
            ),
            *self._engine.limits_held(self._wanted.limits),
        )

    def _more_roots(self) -> Mapping[PurePosixPath, PurePosixPath]:
        return {
            PurePosixPath(folder): PurePosixPath(self.place / f"own-{number}")
            for number, folder in enumerate(self._wanted.folders)
        }

    async def _run(self, call: ProcessCall, number: int) -> ProcessResult:
        check_words(call)
        cwd = self.path / PurePosixPath(call.cwd)
        if not self._may_be_there(cwd):  # an engine would make it
            raise TaskError(
                f"the working directory {str(cwd)!r} does not exist: "
                "create it, or correct the task's `cwd`"
            )
        name = f"{self._means.places.name_of(self.place)}-{number}"
        argv, env = self._command(call, name)
        order = {
            "engine": self._engine.path,
            "argv": argv,
            "name": name,
            "env": env,
            "port": self._wanted.port,
            "run": number,
        }
        self._left.add(name)
        notes = None
        try:
            result, notes = await self._start("container", order, call, number)
        finally:
            if notes:
                self._left.discard(name)
            else:  # killed before it could remove its container
                await asyncio.shield(asyncio.to_thread(self._engine.remove, name))
        if notes and notes["problem"]:
            raise Undecidable(f"the container could not be used: {notes['problem']}")
        if notes and not notes["started"] and not result.timed_out:
            raise _not_started(call, result)
        self._look_at(result, notes)
        if result.usage.exit_status and _INIT_FAILED.search(result.usage.stderr_tail):
            raise _not_started(call, result)
        return result

    def _may_be_there(self, folder: PurePosixPath) -> bool:
        here = (
            self.folder / folder.relative_to(self.path)
            if folder.is_relative_to(self.path)
            else None
        )
        return here is None or os.path.lexists(here)

    def _look_at(self, result: ProcessResult, notes: Mapping[str, Any]) -> None:
        """Notice the limit of memory; an engine tells of it only when it met the first process."""
        limit = self._wanted.limits.memory_bytes
        if limit is None or result.timed_out or result.truncated:
            return
        if notes.get("out_of_memory"):
            self._hits[f"memory: a process was killed at {limit:,} bytes"] = None
        elif result.usage.signal == signal.SIGKILL:
            self._hits[f"memory: a process was killed, most likely at {limit:,} bytes"] = None

    def _command(self, call: ProcessCall, name: str) -> tuple[list[str], dict[str, str]]:
        """Return the engine's arguments and its client's environment."""
        own = self._engine.env
        env = {key: value for key, value in call.env.items() if key not in {"PATH", "TMPDIR"}}
        env |= {"HOME": str(HOME)}
        # By name alone a value does not show in the list of processes.
        variables = [
            word
            for key, value in env.items()
            for word in ("--env", f"{key}={value}" if key in own else key)
        ]
        limits, label = self._wanted.limits, f"{LABEL}={self._means.places.owner}"
        options = [
            "run", "--interactive", "--name", name, "--label", label,
            "--network", "none", "--pull", "never", "--entrypoint", "",
            *_SECURITY, *self._engine.identity(),
            *self._share("files", str(self.path)),
            *self._share("home", str(HOME)),
            *self._share("tmp", "/tmp"),  # noqa: S108  # the trial's own
            *[word for number, folder in enumerate(self._wanted.folders)
              for word in self._share(f"own-{number}", folder)],
            *self._visible(),
            "--workdir", str(self.path / PurePosixPath(call.cwd)),
            *variables,
        ]  # fmt: skip
        if self._engine.init:
            options.append("--init")
        if self._engine.podman:
            options += ["--security-opt", "label=disable"]
        if limits.memory_bytes is not None:
            both = str(limits.memory_bytes)
            options += ["--memory", both, "--memory-swap", both]
        if limits.processes is not None:
            options += ["--pids-limit", str(limits.processes)]
        if limits.cpus is not None and "cpu" in self._engine.limits:
            options += ["--cpus", str(limits.cpus)]
        argv = list(call.argv)
        if self._wanted.port is not None:
            # Read-only: what the runner opens there must be what the runner has made.
            options += self._share("go", _GO, ",readonly")
            argv = ["/bin/sh", "-c", _WAIT, "sh", *argv]
        return [*options, self._wanted.image or "", *argv], {**env, **own}

    def _visible(self) -> list[str]:
        """Return the options for what of this machine is seen, each at its own place."""
        return [
            word
            for folder in dict.fromkeys(self._wanted.visible)
            for word in ("--mount", f"type=bind,source={folder},target={folder},readonly")
            if "," not in folder and Path(folder).exists()
        ]

    def _share(self, name: str, target: str, how: str = "") -> list[str]:
        return ["--mount", f"type=bind,source={self.place / name},target={target}{how}"]


def _not_started(call: ProcessCall, result: ProcessResult) -> TaskError | Undecidable:
    said = result.usage.stderr_tail.strip().rpartition("\n")[2]
    if _INIT_FAILED.search(said):
        return TaskError(f"program {call.argv[0]!r} could not be started in the image: {said}")
    if result.usage.exit_status == _NOT_FOUND:
        return TaskError(f"program {call.argv[0]!r} is not in the image: {said}")
    if result.usage.exit_status == _CANNOT_RUN and _ITS_FAULT.search(said):
        return TaskError(f"program {call.argv[0]!r} could not be started: {said}")
    return Undecidable(f"the container could not be started: {said}")
