"""Eval tasks: what keeps them, and where those that run them find them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from fairtrial.model.eval_task import EvalTask, TaskStatus
from fairtrial.model.isolation import Level, Limits, Wanted
from fairtrial.model.json import Json
from fairtrial.ports.workspaces import PreparedRepo, RepoWorkspace


@dataclass(frozen=True, slots=True)
class KeptTask:
    """An eval task as it was loaded, and what its validation came to.

    Attributes:
        task: The task.
        project: Root of the repository that its suite lies in.
        folder: Its folder, absolute.
        loaded_at: When it was loaded (UTC).
        status: Whether this version of it was validated.
        validation: What its validation found, as JSON; None when there was none.
        validated_at: When (UTC).
    """

    task: EvalTask
    project: str
    folder: str
    loaded_at: datetime
    status: TaskStatus = TaskStatus.DRAFT
    validation: Mapping[str, Json] | None = None
    validated_at: datetime | None = None


class SuiteStore(Protocol):
    """Keeps eval tasks: the newest version of each by its name, every version by its digest."""

    def load(self, task: EvalTask, project: str, folder: str, now: datetime) -> KeptTask:
        """Keep a task in place of the one of its suite and name.

        A version that was validated before is validated still.
        """
        ...

    def suites(self, project: str | None = None) -> Sequence[tuple[str, str]]:
        """Return the projects and names of all suites, or of those of one project, in order."""
        ...

    def tasks(self, project: str, suite: str) -> Sequence[KeptTask]:
        """Return the tasks of a suite by name; none when there is no such suite."""
        ...

    def find(self, project: str, ref: str) -> Sequence[KeptTask]:
        """Return the tasks that `SUITE/TASK`, `SUITE`, or a task's name alone names.

        Raises:
            NotFoundError: there is none, or a name alone fits tasks of several suites.
        """
        ...

    def version(self, digest: str) -> EvalTask:
        """Return the task with a digest, be it the newest of its name or not.

        Raises:
            NotFoundError: there is none.
        """
        ...

    def folder(self, digest: str) -> str | None:
        """Return the folder of a task whose newest version has a digest; None when none has."""
        ...

    def snapshots(self) -> Mapping[str, str]:
        """Return the ids of the snapshots that newest versions begin with, of all projects.

        Each comes with a task that does, as `SUITE/NAME`. They outlast their sessions.
        """
        ...

    def judge(
        self, digest: str, status: TaskStatus, validation: Mapping[str, Json], now: datetime
    ) -> None:
        """Keep what the validation of a version came to, in place of an earlier one.

        Raises:
            NotFoundError: there is no such version.
        """
        ...

    def forget(self, project: str, suite: str, name: str) -> None:
        """Forget that a task is of a suite; its versions stay, since experiments name them.

        Raises:
            NotFoundError: there is no such task.
        """
        ...


@dataclass(frozen=True, slots=True)
class Trajectory:
    """What an agent did in a trial, as a session in the store.

    Attributes:
        session: The id of the session; None when there is no transcript that can be read.
        leaks: What it saw or tried to see and must not: a line each, with the event's number.
        trouble: Why the transcript could not be kept; None when it could.
    """

    session: str | None
    leaks: tuple[str, ...] = ()
    trouble: str | None = None


@dataclass(frozen=True, slots=True)
class TaskImage:
    """The image that an eval task's programs run in.

    Attributes:
        name: Its name on this machine.
        workdir: Where the workspace lies in it.
        limits: What the task lets its programs use.
    """

    name: str
    workdir: str
    limits: Limits


def wanted_in(image: TaskImage, more: Wanted | None = None) -> Wanted:
    """Return what is asked of a workspace in an image.

    Args:
        image: The image.
        more: What is asked beside; its level and image play no part, and its limits win.
    """
    more = more or Wanted()
    asked, own = more.limits, image.limits
    limits = Limits(
        own.memory_bytes if asked.memory_bytes is None else asked.memory_bytes,
        own.processes if asked.processes is None else asked.processes,
        own.cpus if asked.cpus is None else asked.cpus,
    )
    return replace(more, level=Level.IMAGE, limits=limits, image=image.name, workdir=image.workdir)


class EvalTasks(Protocol):
    """What runs an eval task needs of it: the `agent` task and the `verifier` grader are given it.

    A case names its task: `case.metadata["eval_task"]` is the digest.
    """

    def open(self) -> None:
        """Begin to use it; each call is followed by one of `close`."""
        ...

    def close(self) -> None:
        """End to use it; the last one removes what was made for all. Workspaces have ended."""
        ...

    def task(self, digest: str) -> EvalTask:
        """Return the task with a digest.

        Raises:
            NotFoundError: there is none.
        """
        ...

    async def prepared(self, digest: str, harness: Mapping[str, bytes]) -> PreparedRepo:
        """Return the files of a task's workspace as the agent finds them.

        They have no history, no hidden file, and the setup has run; made once for all trials.

        Args:
            digest: The task's.
            harness: Files to put over them, by path.

        Raises:
            InfraError: they cannot be made, e.g. the setup failed.
            Undecidable: what they are made from is not there any more.
        """
        ...

    async def image(self, digest: str) -> TaskImage | None:
        """Return the image of a task, built when it has to be; None for a task without one.

        Raises:
            InfraError: there is no engine, the image is not on this machine, or it was not built.
        """
        ...

    def workspace(self, repo: PreparedRepo, wanted: Wanted) -> RepoWorkspace:
        """Return a new workspace; see `Workspaces.workspace`."""
        ...

    async def keep_trajectory(
        self, task: EvalTask, agent: str, transcripts: Mapping[str, bytes]
    ) -> Trajectory:
        """Keep what an agent wrote of its session, and look for what it must not have seen.

        Args:
            task: The task that it worked on.
            agent: The agent, by the name of its reader.
            transcripts: Its files by name; none when it wrote none.
        """
        ...
