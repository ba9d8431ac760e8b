"""`eval show`: one eval task."""

from __future__ import annotations

from fairtrial.app.baselines import project_of
from fairtrial.app.bench import Bench
from fairtrial.app.eval_list import state_of
from fairtrial.app.reports.eval_tasks import ListedTask, TaskReport
from fairtrial.app.requests.eval_show import Request
from fairtrial.model.errors import NotFoundError


def eval_show(bench: Bench, request: Request) -> TaskReport:
    """Return a task of this project.

    Raises:
        NotFoundError: there is no such task, or the name is that of a suite.
        StoreError: the store cannot be read.
    """
    found = bench.store.suites.find(str(project_of(bench.cwd)), request.task)
    if len(found) > 1:
        raise NotFoundError(
            f"{request.task} is a suite of {len(found)} tasks",
            fix=f"list them with: fairtrial eval list {request.task}",
        )
    return TaskReport(ListedTask(found[0], state_of(found[0])))
