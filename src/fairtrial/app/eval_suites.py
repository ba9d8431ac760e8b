"""The eval tasks that a command names, and the dataset that their suite is run as."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fairtrial.app.baselines import project_of
from fairtrial.app.bench import Bench
from fairtrial.model.dataset import DatasetVersion
from fairtrial.model.errors import NotFoundError, UsageError
from fairtrial.ports.suites import KeptTask
from fairtrial.suites.compiling import cases_of, dataset_of
from fairtrial.suites.folders import read_task, suite_folder, task_folders


@dataclass(frozen=True, slots=True)
class ChosenTasks:
    """Tasks of one suite that a command names.

    Attributes:
        suite: The suite.
        tasks: The tasks, by name.
        whole: Whether they are all of the suite.
        notes: What the user should know of what was left out, a line each.
    """

    suite: str
    tasks: tuple[KeptTask, ...]
    whole: bool
    notes: tuple[str, ...] = ()


def project_key_of(bench: Bench) -> str:
    """Return the project that suites are kept under: the repository around the current folder."""
    return str(project_of(bench.cwd))


def chosen_tasks(bench: Bench, refs: Sequence[str], tags: Sequence[str] = ()) -> ChosenTasks:
    """Return the tasks that suites and names of tasks name, as they were loaded.

    A task whose folder holds another version than the one that was loaded is refused: what would
    be run is not what its author sees.

    Args:
        bench: The workbench.
        refs: `SUITE`, `SUITE/TASK` or `TASK`; all of one suite.
        tags: Tasks have at least one of them; none takes all.

    Raises:
        UsageError: they are of several suites, or one was edited since it was loaded.
        NotFoundError: there is no such task, or none with such a tag.
    """
    project = project_key_of(bench)
    found = {}
    for ref in refs:
        for kept in bench.store.suites.find(project, ref.rstrip("/")):
            found[kept.task.suite, kept.task.name] = kept
    suites = sorted({suite for suite, _ in found})
    if len(suites) != 1:
        raise UsageError(
            "no task is named" if not suites else f"tasks of several suites: {', '.join(suites)}",
            why="a run is of one suite, so that its tasks are one dataset" if suites else None,
            fix="name one suite, or tasks of one: fairtrial eval list",
        )
    suite = suites[0]
    tasks = [kept for _, kept in sorted(found.items())]
    tagged = [kept for kept in tasks if not tags or set(tags).intersection(kept.task.tags)]
    if not tagged:
        raise NotFoundError(
            f"no task of {suite} has the tag {' or '.join(tags)}",
            fix="see the tags of each with: fairtrial eval list",
        )
    here = [kept for kept in tagged if Path(kept.folder).is_dir()]
    notes = [
        f"{kept.task.name} is left out: its folder {kept.folder} is gone"
        for kept in tagged
        if kept not in here
    ]
    if not here:
        raise NotFoundError(
            "; ".join(notes), fix="restore it, or load it anew: fairtrial eval import DIR"
        )
    _refuse_edited(here)
    whole = len(tasks) == len(bench.store.suites.tasks(project, suite)) and here == tasks
    notes += _never_loaded(Path(project), suite, tasks) if whole else []
    return ChosenTasks(suite, tuple(here), whole, tuple(notes))


def suite_version(bench: Bench, suite: str, tasks: Sequence[KeptTask]) -> DatasetVersion:
    """Return the newest version of a suite's dataset that holds these tasks as they are.

    It has all tasks of the suite that are loaded, so that runs of some of them share it.

    Raises:
        StoreError: the store cannot be written.
    """
    kept = {one.task.name: one for one in bench.store.suites.tasks(project_key_of(bench), suite)}
    kept |= {one.task.name: one for one in tasks}
    cases = cases_of(kept[name].task for name in sorted(kept))
    return bench.store.datasets.add_version(dataset_of(suite), cases)[0]


def edited(kept: KeptTask) -> bool:
    """Return whether the folder of a task holds another version than the one that was loaded.

    Raises:
        UsageError: something in the folder does not fit.
        NotFoundError: there is no task in it.
    """
    now = read_task(Path(kept.folder), Path(kept.project))
    return now.digest != kept.task.digest or now.tags != kept.task.tags


def _refuse_edited(tasks: Sequence[KeptTask]) -> None:
    changed = [kept for kept in tasks if edited(kept)]
    if changed:
        names = ", ".join(kept.task.name for kept in changed)
        load = "; ".join(f"fairtrial eval import {_shown(kept)}" for kept in changed[:5])
        raise UsageError(
            f"edited since {'it was' if len(changed) == 1 else 'they were'} loaded: {names}",
            why="the version that was loaded would run, not the one in the folder",
            fix=f"load the edited version: {load}",
        )


def _shown(kept: KeptTask) -> str:
    folder, project = Path(kept.folder), Path(kept.project)
    inside = folder.is_relative_to(project)
    return shlex.quote(str(folder.relative_to(project) if inside else folder))


def _never_loaded(project: Path, suite: str, tasks: Sequence[KeptTask]) -> list[str]:
    known = {Path(kept.folder).resolve() for kept in tasks}
    return [
        f"{folder.name} is left out: it was never loaded (fairtrial eval import {folder})"
        for folder in task_folders(suite_folder(project, suite))
        if folder.resolve() not in known
    ]
