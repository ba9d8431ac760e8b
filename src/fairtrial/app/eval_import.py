"""`eval import`: eval tasks from their folders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from fairtrial.app.baselines import project_of
from fairtrial.app.bench import Bench
from fairtrial.app.captured import bring_snapshots
from fairtrial.app.eval_foreign import Brought, bring
from fairtrial.app.reports.eval_tasks import ImportReport, LoadedTask
from fairtrial.app.requests.eval_import import Request
from fairtrial.model.errors import FairtrialError, NotFoundError, UsageError
from fairtrial.model.eval_task import EvalTask, RepoStart, TaskStatus
from fairtrial.ports.suites import KeptTask
from fairtrial.suites.folders import SUITES, TASKS, read_task, task_folders
from fairtrial.suites.task_file import FILE
from fairtrial.workspaces.snapshots.files import GitSnapshotFiles


def eval_import(bench: Bench, request: Request) -> ImportReport:
    """Load the tasks of a folder, and say what changed.

    Those of another tool become folders of a suite of this project first.

    Raises:
        NotFoundError: there is no such folder, or no task in it.
        UsageError: the one task that was named does not fit, or an option has no effect.
        StoreError: the store cannot be written.
    """
    folder = bench.path(request.folder).resolve()
    here = project_of(bench.cwd)
    brought = bring(bench, folder, here, request.suite, request.repos)
    if brought is not None:
        return _of_another_tool(bench, brought, here)
    if request.suite is not None or request.repos is not None:
        option = "--suite" if request.suite is not None else "--repos"
        raise UsageError(
            f"{option} has no effect on tasks of fairtrial's own",
            where=str(folder),
            fix="leave it out: they stay where they lie",
        )
    folders = _folders(folder)
    is_suite = folders != [folder]
    root = _project(bench, folder)
    bring_snapshots(bench)
    suite = _suite_of(folders[0])
    known = _known(bench, root, suite)
    loaded: list[LoadedTask] = []
    problems: list[tuple[str, str]] = []
    for place in folders:
        try:
            loaded.append(_loaded(bench, place, root, known))
        except FairtrialError as error:
            if not is_suite:
                raise
            problems.append((str(place), str(error)))
    gone = _gone(bench, root, suite.name) if is_suite else []
    return ImportReport(suite.name, str(root), loaded, problems, gone)


def _of_another_tool(bench: Bench, brought: Brought, root: Path) -> ImportReport:
    if not brought.folders and not brought.problems:
        raise NotFoundError("there is no task in there", fix="look at what it holds")
    loaded: list[LoadedTask] = []
    problems = list(brought.problems)
    known = _known(bench, root, brought.suite)
    for place, lost in brought.folders.items():
        try:
            one = _loaded(bench, place, root, known)
        except FairtrialError as error:
            problems.append((str(place), str(error)))
        else:
            loaded.append(replace(one, notes=(*one.notes, *lost)))
    return ImportReport(brought.suite.name, str(root), loaded, problems, [])


def _folders(folder: Path) -> list[Path]:
    """Return the folders of the tasks that a folder stands for: itself, or those of a suite."""
    if (folder / FILE).is_file():
        return [folder]
    found = task_folders(folder) if folder.name != TASKS else task_folders(folder.parent)
    found = found or sorted(path.parent for path in folder.glob(f"*/{FILE}"))
    if found:
        return found
    if not folder.is_dir():
        raise NotFoundError(f"there is no folder {folder}")
    suites = sorted(path.parent.name for path in folder.glob(f"*/{TASKS}"))
    raise NotFoundError(
        f"there is no task in {folder}",
        why=f"the folder of a task holds a {FILE}; that of a suite, tasks in {TASKS}/",
        fix=f"name one suite: {SUITES}/{suites[0]}" if suites else "name a task or a suite",
    )


def _project(bench: Bench, folder: Path) -> Path:
    """Return the repository around a folder; outside of one, the current project."""
    found = project_of(folder)
    return found if (found / ".git").exists() else project_of(bench.cwd)


def _suite_of(folder: Path) -> Path:
    return folder.parent.parent if folder.parent.name == TASKS else folder.parent


def _known(bench: Bench, root: Path, suite: Path) -> Mapping[str, KeptTask]:
    """Return the tasks of a suite as they were loaded, by name."""
    return {one.task.name: one for one in bench.store.suites.tasks(str(root), suite.name)}


def _loaded(bench: Bench, folder: Path, root: Path, known: Mapping[str, KeptTask]) -> LoadedTask:
    task = read_task(folder, root)
    before = known.get(task.name)
    kept = bench.store.suites.load(task, str(root), str(folder), bench.clock.now())
    notes = _notes(bench, task)
    if before is None:
        return LoadedTask(kept, "new", (), void=False, notes=notes)
    changed = _changed(before.task, task)
    void = before.status is TaskStatus.VALIDATED and kept.status is not TaskStatus.VALIDATED
    return LoadedTask(kept, "changed" if changed else "unchanged", changed, void, notes)


def _changed(before: EvalTask, after: EvalTask) -> tuple[str, ...]:
    """Return the keys of what differs; those that no verdict depends on last."""
    old, new = before.content(), after.content()
    found = [key for key in (*old, *(new.keys() - old.keys())) if old.get(key) != new.get(key)]
    facts = ("tags", "origin", "metadata")
    return (*found, *(key for key in facts if getattr(before, key) != getattr(after, key)))


def _notes(bench: Bench, task: EvalTask) -> tuple[str, ...]:
    """Return what the workspace needs that is not on this machine."""
    start = task.start
    if not isinstance(start, RepoStart):
        return ()
    notes = []
    if start.snapshot is not None and not _is_there(bench, start.snapshot):
        notes.append(f"the snapshot {start.snapshot} is not in this store: it cannot be run here")
    elif start.snapshot is None and not Path(start.repo).is_dir():
        notes.append(f"there is no {start.repo}: it cannot be run here")
    return tuple(notes)


def _is_there(bench: Bench, ref: str) -> bool:
    try:
        snapshot = bench.store.snapshots.find(ref)
    except NotFoundError:
        return False
    return GitSnapshotFiles(bench.home, bench.environ).holds(snapshot)


def _gone(bench: Bench, root: Path, suite: str) -> Sequence[str]:
    kept: Sequence[KeptTask] = bench.store.suites.tasks(str(root), suite)
    return [one.task.name for one in kept if not (Path(one.folder) / FILE).is_file()]
