"""`eval list`: the eval tasks that are loaded."""

from __future__ import annotations

from pathlib import Path

from fairtrial.app.baselines import project_of
from fairtrial.app.bench import Bench
from fairtrial.app.reports.eval_tasks import ListedTask, State, TasksReport
from fairtrial.app.requests.eval_list import Request
from fairtrial.model.errors import FairtrialError, NotFoundError
from fairtrial.ports.suites import KeptTask
from fairtrial.suites.folders import read_task
from fairtrial.suites.task_file import FILE


def eval_list(bench: Bench, request: Request) -> TasksReport:
    """Return the tasks of this project, or of all.

    Raises:
        NotFoundError: there is no such suite.
        StoreError: the store cannot be read.
    """
    project = None if request.everywhere else str(project_of(bench.cwd))
    suites = bench.store.suites
    found = [
        ListedTask(kept, state_of(kept))
        for place, suite in suites.suites(project)
        if request.suite in (None, suite)
        for kept in suites.tasks(place, suite)
    ]
    if request.suite is not None and not found:
        raise NotFoundError(
            f"there is no suite {request.suite}",
            where=project,
            fix="list all tasks with: fairtrial eval list",
        )
    return TasksReport(project, request.suite, found)


def state_of(kept: KeptTask) -> State:
    """Return how the folder of a task stands."""
    folder = Path(kept.folder)
    if not (folder / FILE).is_file():
        return "gone"
    try:
        now = read_task(folder, Path(kept.project))
    except (FairtrialError, OSError):
        return "broken"
    same = now.digest == kept.task.digest and now.tags == kept.task.tags
    return "loaded" if same else "edited"
