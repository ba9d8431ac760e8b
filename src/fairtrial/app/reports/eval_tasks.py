"""What `eval import`, `eval list`, `eval show` and `eval rm` say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import ClassVar, Literal

from fairtrial.app.reports.informing import Informing
from fairtrial.interchange.experiment_exports.export import timestamp
from fairtrial.model.errors import ExitCode
from fairtrial.model.eval_task import EvalTask, FolderStart, RepoStart
from fairtrial.model.json import Json
from fairtrial.ports.suites import KeptTask

State = Literal["loaded", "edited", "gone", "broken"]
"""How the folder of a task stands: as it was loaded, edited since, not there, or not readable."""


@dataclass(frozen=True, slots=True)
class LoadedTask:
    """A task that was loaded.

    Attributes:
        kept: The task as it is now.
        change: What loading it did.
        changed: What differs from the version before: keys of the task.
        void: Whether the version before was validated, and this one is not.
        notes: What should be known of it, a line each.
    """

    kept: KeptTask
    change: Literal["new", "changed", "unchanged"]
    changed: tuple[str, ...]
    void: bool
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What came of loading folders.

    Attributes:
        suite: The suite.
        project: The repository that it lies in.
        loaded: The tasks that were loaded, by name.
        problems: Folders that could not be loaded, and why.
        gone: Names of tasks of the suite whose folders are not there any more.
    """

    schema: ClassVar[str] = "fairtrial.eval_import/1"

    suite: str
    project: str
    loaded: Sequence[LoadedTask]
    problems: Sequence[tuple[str, str]]
    gone: Sequence[str]

    @property
    def exit_code(self) -> ExitCode:
        """4 when a folder could not be loaded, else 0."""
        return ExitCode.NO_VERDICT if self.problems else ExitCode.OK

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            "suite": self.suite,
            "project": self.project,
            "tasks": [
                {
                    "name": one.kept.task.name,
                    "digest": one.kept.task.digest,
                    "folder": one.kept.folder,
                    "status": one.kept.status.value,
                    "change": one.change,
                    "changed": list(one.changed),
                    "validation_void": one.void,
                    "notes": list(one.notes),
                }
                for one in self.loaded
            ],
            "problems": [{"folder": folder, "message": why} for folder, why in self.problems],
            "gone": list(self.gone),
        }


@dataclass(frozen=True, slots=True)
class ListedTask:
    """A task, and how its folder stands."""

    kept: KeptTask
    state: State


@dataclass(frozen=True, slots=True)
class TasksReport(Informing):
    """Tasks.

    Attributes:
        project: The project that they are of; None for all.
        suite: The suite that was asked for, if one was.
        tasks: The tasks, by project, suite and name.
    """

    schema: ClassVar[str] = "fairtrial.eval_tasks/1"

    project: str | None
    suite: str | None
    tasks: Sequence[ListedTask]

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            "project": self.project,
            "tasks": [task_json(one) for one in self.tasks],
        }


@dataclass(frozen=True, slots=True)
class TaskReport(Informing):
    """One task, whole."""

    schema: ClassVar[str] = "fairtrial.eval_task/1"

    task: ListedTask

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        task = self.task.kept.task
        verifier = task.verifier
        return {
            "schema": self.schema,
            **task_json(self.task),
            "instruction": task.instruction,
            "start": _start(task),
            "setup": None if task.setup is None else asdict(task.setup),
            "agent_limit_s": task.agent_limit_s,
            "verifier": {
                "command": None if verifier.command is None else asdict(verifier.command),
                "judge": None if verifier.judge is None else dict(verifier.judge),
                "hidden": sorted(verifier.hidden),
                "patterns": list(verifier.patterns),
                "protected": list(verifier.protected),
            },
            "near_misses": sorted(task.near_misses),
            "metadata": dict(task.metadata),
            "validation": self.task.kept.validation,
        }


@dataclass(frozen=True, slots=True)
class RemovedTasksReport(Informing):
    """Tasks that were taken off.

    Attributes:
        tasks: Each as `SUITE/NAME`.
        folders: The folders that were removed.
        snapshots: The snapshots that were removed with them.
    """

    schema: ClassVar[str] = "fairtrial.eval_tasks_removed/1"

    tasks: Sequence[str]
    folders: Sequence[str]
    snapshots: Sequence[str]

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            "tasks": list(self.tasks),
            "folders": list(self.folders),
            "snapshots": list(self.snapshots),
        }


def task_json(one: ListedTask) -> dict[str, Json]:
    """Return a task as one JSON object, without what is in its files."""
    kept, task = one.kept, one.kept.task
    start = task.start if isinstance(task.start, RepoStart) else None
    origin = task.origin
    return {
        "suite": task.suite,
        "name": task.name,
        "digest": task.digest,
        "project": kept.project,
        "folder": kept.folder,
        "state": one.state,
        "status": kept.status.value,
        "validated_at": _when(kept.validated_at),
        "loaded_at": timestamp(kept.loaded_at),
        "grade": None if start is None else start.grade,
        "has_reference": task.has_reference,
        "n_near_misses": len(task.near_misses),
        "n_hidden": len(task.verifier.hidden),
        "tags": list(task.tags),
        "session": None if origin is None else origin.session,
        "agent": None if origin is None else origin.agent,
        "flags": [] if origin is None else list(origin.flags),
    }


def _start(task: EvalTask) -> dict[str, Json]:
    start = task.start
    folder = start if isinstance(start, FolderStart) else None
    repo = start if isinstance(start, RepoStart) else None
    return {
        "kind": "repo" if folder is None else "folder",
        "repo": None if repo is None else repo.repo,
        "commit": None if repo is None else repo.commit,
        "snapshot": None if repo is None else repo.snapshot,
        "patch": repo is not None and bool(repo.patch),
        "grade": None if repo is None else repo.grade,
        "unknown": [] if repo is None else list(repo.unknown),
        "files": None if folder is None else len(folder.files),
        "image": None if folder is None else folder.image,
        "dockerfile": folder is not None and folder.dockerfile is not None,
    }


def _when(moment: datetime | None) -> str | None:
    return None if moment is None else timestamp(moment)
