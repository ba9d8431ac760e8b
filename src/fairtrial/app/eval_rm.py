"""`eval rm`: takes eval tasks off their suites."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from fairtrial.app.baselines import project_of
from fairtrial.app.bench import Bench
from fairtrial.app.removing import remove_orphans
from fairtrial.app.reports.eval_tasks import RemovedTasksReport
from fairtrial.app.requests.eval_rm import Request
from fairtrial.model.errors import UsageError
from fairtrial.model.eval_task import RepoStart
from fairtrial.ports.suites import KeptTask
from fairtrial.suites.folders import SUITES


def eval_rm(bench: Bench, request: Request) -> RemovedTasksReport:
    """Take tasks off, and return which.

    Raises:
        UsageError: no task is named, or a folder cannot be removed.
        NotFoundError: there is no such task.
        StoreError: the store cannot be written.
    """
    if not request.tasks:
        raise UsageError("nothing says which tasks to take off", fix="name them")
    suites = bench.store.suites
    project = project_of(bench.cwd)
    found: dict[str, KeptTask] = {}
    for ref in request.tasks:
        for kept in suites.find(str(project), ref):
            found[f"{kept.task.suite}/{kept.task.name}"] = kept
    if request.files:
        _refuse_foreign(found.values(), project)
    folders = []
    for kept in found.values():
        folder = Path(kept.folder)
        if request.files and folder.is_dir():
            _remove(folder)
            folders.append(str(folder))
        suites.forget(kept.project, kept.task.suite, kept.task.name)
    starts = (kept.task.start for kept in found.values())
    held = [one.snapshot for one in starts if isinstance(one, RepoStart) and one.snapshot]
    return RemovedTasksReport(list(found), folders, remove_orphans(bench, held))


def _refuse_foreign(tasks: Iterable[KeptTask], project: Path) -> None:
    """See that folders to be removed lie in suites of the project.

    Raises:
        UsageError: one lies elsewhere.
    """
    for kept in tasks:
        folder = Path(kept.folder)
        if not folder.is_relative_to(project / SUITES):
            raise UsageError(
                f"{folder} is not removed: it lies outside of {project / SUITES}",
                where="--files",
                fix="remove it yourself",
            )


def _remove(folder: Path) -> None:
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be removed: {error.strerror or error}", where="--files"
        ) from error
    with suppress(OSError):  # it is not empty: other tasks are in it
        folder.parent.rmdir()
