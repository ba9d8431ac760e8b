"""Eval tasks and their workspaces, for what runs them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from fairtrial.model.errors import FairtrialError, InfraError, TaskError, TrialProblem, UsageError
from fairtrial.model.eval_task import Command, EvalTask, FolderStart
from fairtrial.model.isolation import Level, Limits, Wanted
from fairtrial.model.json import content_hash
from fairtrial.model.session import SessionEvent
from fairtrial.ports import PreparedRepo, ProcessCall, RepoWorkspace
from fairtrial.ports.suites import SuiteStore, TaskImage, Trajectory, wanted_in
from fairtrial.ports.workspaces import Workspaces
from fairtrial.suites.starting import Sources, write_start
from fairtrial.suites.task_file import BUILD_LIMIT_S
from fairtrial.suites.trajectory_leaks import leaks_in
from fairtrial.workspaces.ending import bad_ending, with_last_line
from fairtrial.workspaces.environment import child_environment

_SETUP_OUTPUT: Final = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Kept:
    """A transcript that is in the store now.

    Attributes:
        session: The id of its session.
        events: What happened in it.
    """

    session: str
    events: Sequence[SessionEvent]


@dataclass(frozen=True, slots=True)
class Means:
    """What a workshop works with.

    Attributes:
        suites: Knows tasks by their digests.
        workspaces: Makes workspaces.
        sources: Where the content of repositories comes from.
        folder: Returns the folder that a task's workspace begins as, by the task's digest.
        keep: Puts an agent's transcripts into the store; None when it can read none of them.
        environ: The environment of this process.
    """

    suites: SuiteStore
    workspaces: Workspaces
    sources: Sources
    folder: Callable[[str], Path | None]
    keep: Callable[[str, Mapping[str, bytes]], Kept | None]
    environ: Mapping[str, str]


class Workshop:
    """The `EvalTasks` of a run. What it prepared once serves all its trials."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._tasks: dict[str, EvalTask] = {}
        self._made: dict[str, asyncio.Future[PreparedRepo]] = {}
        self._images: dict[str, asyncio.Future[tuple[TaskImage, str]]] = {}

    def open(self) -> None:
        """Do nothing: what it needs is made when it is asked for."""

    def close(self) -> None:
        """Do nothing: whoever made its workspaces closes them."""

    def task(self, digest: str) -> EvalTask:
        """See `EvalTasks.task`."""
        if digest not in self._tasks:
            self._tasks[digest] = self._means.suites.version(digest)
        return self._tasks[digest]

    async def prepared(self, digest: str, harness: Mapping[str, bytes]) -> PreparedRepo:
        """See `EvalTasks.prepared`."""
        task = self.task(digest)
        base = await self._once(digest, lambda: self._ready(task))
        if not harness:
            return base
        key = content_hash([digest, {path: data.hex() for path, data in harness.items()}])
        return await self._once(key, lambda: self._with_files(base, harness))

    async def image(self, digest: str) -> TaskImage | None:
        """See `EvalTasks.image`."""
        found = await self._image(self.task(digest))
        return found if found is None else found[0]

    def workspace(self, repo: PreparedRepo, wanted: Wanted) -> RepoWorkspace:
        """See `EvalTasks.workspace`."""
        return self._means.workspaces.workspace(repo, wanted)

    async def keep_trajectory(
        self, task: EvalTask, agent: str, transcripts: Mapping[str, bytes]
    ) -> Trajectory:
        """See `EvalTasks.keep_trajectory`."""
        if not transcripts:
            return Trajectory(None, trouble="the agent wrote no transcript")
        try:
            kept = await asyncio.to_thread(self._means.keep, agent, transcripts)
        except (FairtrialError, OSError) as error:
            return Trajectory(None, trouble=f"the transcript could not be kept: {error}")
        if kept is None:
            return Trajectory(None, trouble="the transcript could not be read")
        return Trajectory(kept.session, leaks_in(kept.events, task))

    async def _once(
        self, key: str, make: Callable[[], Coroutine[Any, Any, PreparedRepo]]
    ) -> PreparedRepo:
        """Return what is made for a key, by whoever asks first."""
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = asyncio.ensure_future(make())
        try:
            return await asyncio.shield(made)
        except TrialProblem:
            # It may succeed when it is tried again.
            if self._made.get(key) is made:
                del self._made[key]
            raise

    async def _image(self, task: EvalTask) -> tuple[TaskImage, str] | None:
        """Return a task's image and the digest of its content; found or built once."""
        start = task.start
        if not isinstance(start, FolderStart) or not start.in_image:
            return None
        key = f"image {content_hash(start.content())}"
        made = self._images.get(key)
        if made is None:
            made = self._images[key] = asyncio.ensure_future(self._find_image(task, start))
        try:
            return await asyncio.shield(made)
        except TrialProblem:
            if self._images.get(key) is made:
                del self._images[key]
            raise

    async def _find_image(self, task: EvalTask, start: FolderStart) -> tuple[TaskImage, str]:
        try:
            images = self._means.workspaces.images()
            if start.dockerfile is None:
                name = start.image or ""
            else:
                files = self._means.folder(task.digest)
                if files is None or not files.is_dir():
                    raise InfraError(f"the folder {files} is gone", kind="setup")
                limit = start.build_limit_s or BUILD_LIMIT_S
                name = await images.build(files, start.dockerfile, limit)
            facts = await images.facts(name)
        except UsageError as problem:
            parts = (problem.what, problem.why, problem.fix)
            told = "; ".join(part for part in parts if part is not None)
            where = f"the image of {task.suite}/{task.name}"
            raise InfraError(f"{where}: {told}", kind="setup") from problem
        workdir = start.workdir or facts.workdir
        if workdir == "/" or not workdir.startswith("/"):
            raise InfraError(
                f"the image of {task.suite}/{task.name} has the working directory {workdir}, over "
                "which no workspace can be laid; add WORKDIR to its Dockerfile, or workdir to "
                "[environment] in task.toml",
                kind="setup",
            )
        memory = None if start.memory_mb is None else start.memory_mb * 1024 * 1024
        return TaskImage(name, workdir, Limits(memory, cpus=start.cpus)), facts.id

    async def _ready(self, task: EvalTask) -> PreparedRepo:
        means = self._means
        files = means.folder(task.digest)
        found = await self._image(task)

        async def fill(folder: Path) -> None:
            if found is not None:
                await means.workspaces.images().copy_out(found[0].name, found[0].workdir, folder)
            await asyncio.to_thread(write_start, task, files, folder, means.sources)

        ground = {**task.workspace_content(), "setup": None}
        name = content_hash(ground if found is None else [ground, found[1]])
        repo = await means.workspaces.prepare(f"eval-task {name}", fill)
        return repo if task.setup is None else await self._set_up(repo, task, task.setup)

    async def _set_up(self, repo: PreparedRepo, task: EvalTask, setup: Command) -> PreparedRepo:
        """Run the setup, which is the user's own and mostly needs the network, on a copy."""
        image = await self.image(task.digest)
        wanted = Wanted(Level.NONE) if image is None else wanted_in(image)
        async with self.workspace(repo, wanted) as place:
            env = child_environment(self._means.environ, setup.env, (), "the setup's env")
            try:
                ended = await place.run(
                    ProcessCall(
                        argv=("/bin/sh", "-c", setup.line),
                        stdin=b"",
                        env={**env, "HOME": str(place.home)} if image else env,
                        cwd=Path(place.path),
                        time_limit_s=setup.time_limit_s,
                        max_output_bytes=_SETUP_OUTPUT,
                    )
                )
            except TaskError as error:
                raise InfraError(f"the setup did not start: {error}", kind="setup") from error
            problem = (
                f"it ran over its limit of {setup.time_limit_s:g} s"
                if ended.timed_out
                else bad_ending(ended.usage, in_shell=True)
            )
            if problem is not None:
                told = with_last_line(problem, ended.usage.stderr_tail)
                raise InfraError(f"the setup failed: {told}", kind="setup")
            return await place.snapshot()

    async def _with_files(self, base: PreparedRepo, files: Mapping[str, bytes]) -> PreparedRepo:
        async with self.workspace(base, Wanted(Level.NONE)) as place:
            await place.copy_in(files)
            return await place.snapshot()
