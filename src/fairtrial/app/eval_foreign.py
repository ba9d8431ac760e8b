"""Tasks of other tools, written as folders of a suite of this project before they are loaded."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

from fairtrial.app.bench import Bench
from fairtrial.interchange.eval_tasks import harbor, swe_bench, terminal_bench
from fairtrial.interchange.eval_tasks.foreign import ForeignTask
from fairtrial.model.errors import FairtrialError, NotFoundError, UsageError
from fairtrial.suites.folders import SUITES, TASKS, check_name, read_task, suite_folder
from fairtrial.suites.swe_bench import clone_of, task_of
from fairtrial.suites.writing import write_task

_ONE_BY_ONE: Final = 20
"""Instances that are left out and told each by its name."""

Made = tuple[str, Callable[[], ForeignTask]]
"""What a task is called, and what reads it."""


@dataclass(frozen=True, slots=True)
class Brought:
    """Tasks of another tool that are folders now.

    Attributes:
        suite: The suite's folder.
        folders: The tasks' folders, and what of each was lost.
        problems: What could not be brought, and why.
    """

    suite: Path
    folders: Mapping[Path, tuple[str, ...]] = field(default_factory=dict)
    problems: tuple[tuple[str, str], ...] = ()


def bring(
    bench: Bench, source: Path, root: Path, suite: str | None, repos: Path | None
) -> Brought | None:
    """Write the tasks of another tool into a suite; None when these are fairtrial's own.

    Args:
        bench: The workbench.
        source: A task's folder, a folder of tasks, or a file of instances.
        root: The repository that the suite lies in.
        suite: Its name; None takes that of the source.
        repos: The folder of clones of the instances' repositories.

    Raises:
        UsageError: the suite cannot be called so, or the file is no JSON.
        NotFoundError: there is no folder of clones.
    """
    made = _found(bench, source, repos)
    if made is None:
        return None
    name = suite or _suite_name(source)
    folder = suite_folder(root, name)
    folders: dict[Path, tuple[str, ...]] = {}
    problems: list[tuple[str, str]] = []
    for label, read in made:
        try:
            foreign = read()
            target = folder / TASKS / check_name(foreign.task.name, "task")
            _write(foreign, target, root)
        except (FairtrialError, OSError) as error:
            problems.append((label, str(error)))
        else:
            folders[target] = foreign.lost
    return Brought(folder, folders, tuple(_grouped(problems)))


def _found(bench: Bench, source: Path, repos: Path | None) -> Iterator[Made] | None:
    if source.is_file() and source.suffix in swe_bench.ENDINGS:
        if repos is None:
            raise UsageError(
                f"{source.name} holds instances of SWE-bench, and none of their repositories",
                fix="name the folder of their clones: --repos DIR (DIR/owner/name, or DIR/name)",
            )
        if not bench.path(repos).is_dir():
            raise NotFoundError(f"there is no folder {bench.path(repos)}")
        return _instances(bench, source, bench.path(repos))
    if not source.is_dir() or _is_own(source):
        return None
    reader = _reader(source)
    if reader is not None:
        return iter([(source.name, partial(reader, source))])
    folders = sorted(path for path in source.iterdir() if path.is_dir() and not path.is_symlink())
    tasks = [(one, reader) for one in folders if (reader := _reader(one)) is not None]
    if not tasks:
        return None
    return ((one.name, partial(reader, one)) for one, reader in tasks)


def _instances(bench: Bench, source: Path, repos: Path) -> Iterator[Made]:
    for one in swe_bench.instances(source):
        if isinstance(one, tuple):
            yield one[0], partial(_refused, one[1])
        else:
            yield one.id, partial(_instance, bench, one, repos)


def _instance(bench: Bench, one: swe_bench.Instance, repos: Path) -> ForeignTask:
    return task_of(one, clone_of(repos, one.repo), bench.environ)


def _refused(why: str) -> ForeignTask:
    raise UsageError(why)


def _is_own(folder: Path) -> bool:
    """Tell whether a folder lies where suites and their tasks do, whatever it holds."""
    parents = [parent.name for parent in folder.parents]
    return parents[:1] == [SUITES] or (parents[:1] == [TASKS] and parents[2:3] == [SUITES])


def _reader(folder: Path) -> Callable[[Path], ForeignTask] | None:
    if harbor.is_harbor(folder):
        return harbor.read
    return terminal_bench.read if terminal_bench.is_terminal_bench(folder) else None


def _suite_name(source: Path) -> str:
    """Return the name of a suite: that of a folder of tasks, of a file, or of a task's parent."""
    single = source.is_dir() and _reader(source) is not None
    place = source.parent if single else source
    return place.parent.name if place.name == TASKS else place.name.split(".")[0]


def _write(foreign: ForeignTask, target: Path, root: Path) -> None:
    """Write a task's folder; one that says the same already stays.

    Raises:
        UsageError: another task lies there.
    """
    task = replace(foreign.task, suite=target.parent.parent.name)
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        write_task(task, target, root, foreign.environment)
        return
    with tempfile.TemporaryDirectory(prefix="fairtrial-foreign-") as name:
        anew = Path(name) / TASKS / target.name
        anew.parent.mkdir()
        write_task(task, anew, root, foreign.environment)
        try:
            same = read_task(anew, root).digest == read_task(target, root).digest
        except FairtrialError:
            same = False
    if not same:
        raise UsageError(
            "another version of it lies there already, and may have been edited",
            where=str(target),
            fix="move that away, or bring this one into another suite: --suite NAME",
        )


def _grouped(problems: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield what could not be brought; many of one reason as one."""
    count = Counter(why for _, why in problems)
    told = set()
    for label, why in problems:
        if count[why] <= 1 or len(problems) <= _ONE_BY_ONE:
            yield label, why
        elif why not in told:
            told.add(why)
            yield f"{label} and {count[why] - 1:,} more", why
