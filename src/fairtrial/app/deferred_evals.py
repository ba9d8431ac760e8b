"""Eval tasks for what a bench runs, made only when one is asked for."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what it defers
    from fairtrial.app.bench import Bench
    from fairtrial.model.eval_task import EvalTask
    from fairtrial.model.isolation import Wanted
    from fairtrial.ports import PreparedRepo, RepoWorkspace, Workspace
    from fairtrial.ports.suites import TaskImage, Trajectory
    from fairtrial.suites.workshop import Workshop
    from fairtrial.workspaces.levels import LocalWorkspaces


class DeferredEvals:
    """The `EvalTasks` of a bench, made when the first is asked for; most runs need none.

    What uses it opens it, and closes it afterwards: the last one removes what was made.
    """

    def __init__(self, bench: Bench, programs: Workspace) -> None:
        """Make one.

        Args:
            bench: The workbench.
            programs: Runs programs of level `none`; whoever made it opens and closes it.
        """
        self._bench = bench
        self._programs = programs
        self._users = 0
        self._made: tuple[Workshop, LocalWorkspaces] | None = None

    def open(self) -> None:
        """See `EvalTasks.open`."""
        self._users += 1

    def close(self) -> None:
        """See `EvalTasks.close`."""
        self._users -= 1
        if self._users <= 0 and self._made is not None:
            made, self._made = self._made, None
            made[1].close()

    def task(self, digest: str) -> EvalTask:
        """See `EvalTasks.task`."""
        return self._workshop().task(digest)

    def prepared(
        self, digest: str, harness: Mapping[str, bytes]
    ) -> Coroutine[Any, Any, PreparedRepo]:
        """See `EvalTasks.prepared`."""
        return self._workshop().prepared(digest, harness)

    def image(self, digest: str) -> Coroutine[Any, Any, TaskImage | None]:
        """See `EvalTasks.image`."""
        return self._workshop().image(digest)

    def workspace(self, repo: PreparedRepo, wanted: Wanted) -> RepoWorkspace:
        """See `EvalTasks.workspace`."""
        return self._workshop().workspace(repo, wanted)

    def keep_trajectory(
        self, task: EvalTask, agent: str, transcripts: Mapping[str, bytes]
    ) -> Coroutine[Any, Any, Trajectory]:
        """See `EvalTasks.keep_trajectory`."""
        return self._workshop().keep_trajectory(task, agent, transcripts)

    def _workshop(self) -> Workshop:
        if self._made is None:
            # Together they take longer to import than most runs can spare.
            from fairtrial.app.eval_workshop import workshop_of  # noqa: PLC0415

            self._made = workshop_of(self._bench, self._programs)
        return self._made[0]
