"""What `eval init` and `eval new` say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from fairtrial.model.errors import ExitCode
from fairtrial.model.eval_task import EvalTask, RepoStart
from fairtrial.model.json import Json


@dataclass(frozen=True, slots=True)
class DraftedTask:
    """A task that was drafted.

    Attributes:
        task: The task.
        folder: Its folder.
        notes: What is not in its near miss, or why there is none.
    """

    task: EvalTask
    folder: Path
    notes: tuple[str, ...]

    def json(self) -> dict[str, Json]:
        """Return the task as one JSON object."""
        task = self.task
        start = task.start if isinstance(task.start, RepoStart) else None
        origin = task.origin
        return {
            "suite": task.suite,
            "name": task.name,
            "digest": task.digest,
            "folder": str(self.folder),
            "session": None if origin is None else origin.session,
            "flags": [] if origin is None else list(origin.flags),
            "grade": None if start is None else start.grade,
            "commit": None if start is None else start.commit,
            "snapshot": None if start is None else start.snapshot,
            "unknown": [] if start is None else list(start.unknown),
            "near_miss": bool(task.near_misses),
            "notes": list(self.notes),
            "hidden": sorted(task.verifier.hidden),
        }


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A session of which no task was made.

    Attributes:
        session: Its id.
        reason: Why.
        task: The task that was made of it, or of its like, before; None when that is not why.
    """

    session: str
    reason: str
    task: str | None = None

    def json(self) -> dict[str, Json]:
        """Return it as one JSON object."""
        return {"session": self.session, "reason": self.reason, "task": self.task}


@dataclass(frozen=True, slots=True)
class DraftsReport:
    """What became of sessions.

    Attributes:
        project: The repository that the suite lies in.
        suite: The suite.
        folder: Its folder.
        dry_run: Whether nothing was written.
        drafted: The tasks, in the order of their sessions.
        left_out: The sessions that became none.
        more: Whether further sessions fit, beyond the limit.
    """

    schema: ClassVar[str] = "fairtrial.eval_drafts/1"

    project: Path
    suite: str
    folder: Path
    dry_run: bool
    drafted: Sequence[DraftedTask]
    left_out: Sequence[LeftOut]
    more: bool = False

    @property
    def exit_code(self) -> ExitCode:
        """0 when there are tasks now; 4 when none could be made."""
        there = self.drafted or any(one.task is not None for one in self.left_out)
        return ExitCode.OK if there else ExitCode.NO_VERDICT

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            "project": str(self.project),
            "suite": self.suite,
            "folder": str(self.folder),
            "dry_run": self.dry_run,
            "tasks": [one.json() for one in self.drafted],
            "left_out": [one.json() for one in self.left_out],
            "more": self.more,
        }
