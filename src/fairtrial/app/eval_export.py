"""`eval export`: eval tasks as folders of another tool."""

from __future__ import annotations

import os
import shutil
from functools import partial
from pathlib import Path

from fairtrial.app.bench import Bench
from fairtrial.app.eval_suites import chosen_tasks
from fairtrial.app.reports.eval_export import ExportedTask, ExportReport
from fairtrial.app.requests.eval_export import Request
from fairtrial.model.errors import FairtrialError, TrialProblem, UsageError
from fairtrial.model.eval_task import FolderStart
from fairtrial.ports.suites import KeptTask
from fairtrial.suites.folders import ENVIRONMENT
from fairtrial.suites.harbor_export import export_task
from fairtrial.suites.starting import Sources, write_start
from fairtrial.workspaces.snapshots.files import GitSnapshotFiles


def eval_export(bench: Bench, request: Request) -> ExportReport:
    """Write tasks as folders.

    Raises:
        NotFoundError: there is no such task.
        UsageError: tasks are of several suites or were edited since they were loaded, or the
            folder cannot be written.
        StoreError: the store cannot be read.
    """
    chosen = chosen_tasks(bench, request.tasks)
    target = Path(os.path.normpath(bench.path(request.output)))
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{target} cannot be made: {error.strerror}") from error
    files = GitSnapshotFiles(bench.home, bench.environ)
    sources = Sources(bench.environ, bench.store.snapshots.find, files)
    written: list[ExportedTask] = []
    problems: list[tuple[str, str]] = []
    for kept in chosen.tasks:
        folder = target / kept.task.name
        if folder.exists():
            problems.append((kept.task.name, f"{folder} is there already: remove it first"))
            continue
        fill = partial(_write_files, kept, sources)
        root = Path(kept.project)
        try:
            lost = export_task(kept.task, folder, root, request.base_image, fill)
        except (FairtrialError, TrialProblem, OSError) as error:
            problems.append((kept.task.name, str(error)))
        else:
            written.append(ExportedTask(kept.task.name, kept.task.digest, str(folder), lost))
    return ExportReport(chosen.suite, request.to, written, problems, chosen.notes)


def _write_files(kept: KeptTask, sources: Sources, folder: Path) -> None:
    """Write the workspace of a task without an image, else what its image is built from."""
    own = Path(kept.folder) / ENVIRONMENT
    start = kept.task.start
    if isinstance(start, FolderStart) and start.in_image:
        if own.is_dir():
            shutil.copytree(own, folder, symlinks=True, dirs_exist_ok=True)
        return
    write_start(kept.task, own, folder, sources)
