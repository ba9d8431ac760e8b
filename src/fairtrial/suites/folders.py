"""Where suites and tasks lie in a user's repository, and how a task's folder is read."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from fairtrial.model.errors import NotFoundError, UsageError
from fairtrial.model.eval_task import (
    TESTS,
    Command,
    EvalTask,
    FolderStart,
    Origin,
    RepoStart,
    Verifier,
)
from fairtrial.schema.text_files import text_given, text_kept
from fairtrial.suites.task_file import BUILD_LIMIT_S, FILE, TaskFile, parsed

SUITES: Final = "evals"
TASKS: Final = "tasks"
INSTRUCTION: Final = "instruction.md"
REFERENCE: Final = "reference.patch"
START: Final = "start.patch"
NEAR_MISSES: Final = "near_misses"
HIDDEN: Final = "hidden"
ENVIRONMENT: Final = "environment"
DOCKERFILE: Final = "Dockerfile"
TESTS_FOLDER: Final = "tests"
TEST_SCRIPT: Final = "test.sh"
SOLUTION_FOLDER: Final = "solution"

HIDDEN_LIMIT: Final = 16 * 1024 * 1024
"""Bytes that the hidden files of a task may have, all together; so may those of a solution."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def check_name(name: str, what: str) -> str:
    """Return the name of a suite or a task, which is a folder's name too.

    Args:
        name: The name.
        what: `suite` or `task`.

    Raises:
        UsageError: it cannot be one.
    """
    if not _NAME.fullmatch(name) or name.endswith("."):
        raise UsageError(
            f"{name!r} cannot be the name of a {what}",
            why="it names a folder, too",
            fix="take letters, digits, dots, dashes and underscores, 100 at most, "
            "the first a letter or a digit",
        )
    return name


def suite_folder(root: Path, suite: str) -> Path:
    """Return the folder of a suite of the repository at `root`.

    Raises:
        UsageError: it cannot be the name of a suite.
    """
    return root / SUITES / check_name(suite, "suite")


def task_folders(suite: Path) -> list[Path]:
    """Return the folders of a suite's tasks, by name; those without a `task.toml` are none."""
    return sorted(path.parent for path in suite.glob(f"{TASKS}/*/{FILE}"))


def read_task(folder: Path, root: Path) -> EvalTask:
    """Return the task of a folder, named after it and after the suite around it.

    Args:
        folder: The task's folder.
        root: The repository that the suite lies in; `repo` of a start begins there.

    Raises:
        NotFoundError: there is no such folder, or no task in it.
        UsageError: something in it does not fit, or cannot be read.
    """
    try:
        return _read(folder, root)
    except OSError as error:
        where = str(error.filename or folder)
        raise UsageError(f"it cannot be read: {error.strerror or error}", where=where) from error


def _read(folder: Path, root: Path) -> EvalTask:
    if not (folder / FILE).is_file():
        raise NotFoundError(
            f"there is no {FILE} in {folder}" if folder.is_dir() else f"there is no {folder}",
            fix="name the folder of one task, such as evals/failures/tasks/my-task",
        )
    file = parsed(_text(folder / FILE), str(folder / FILE))
    instruction = _text(folder / INSTRUCTION) if (folder / INSTRUCTION).is_file() else ""
    if not instruction.strip():
        raise UsageError("the agent is told nothing", where=str(folder / INSTRUCTION))
    suite = folder.parent.parent if folder.parent.name == TASKS else folder.parent
    reference = folder / REFERENCE
    return EvalTask(
        suite=check_name(suite.name, "suite"),
        name=check_name(folder.name, "task"),
        instruction=instruction,
        start=_start(file, folder, root),
        verifier=_verifier(file, folder),
        setup=_setup(file),
        agent_limit_s=file.agent.timeout_sec,
        tags=tuple(dict.fromkeys((*file.metadata.get("tags", ()), *file.keywords))),
        origin=_origin(file),
        reference=_patch(reference) if reference.exists() else None,
        near_misses={
            path.name.removesuffix(".patch"): _patch(path)
            for path in sorted(_folder(folder / NEAR_MISSES).glob("*.patch"))
        },
        # A patch says the same in every image, and is what a solution would make.
        solution={} if reference.is_file() else _small_files(folder / SOLUTION_FOLDER),
        metadata={name: fact for name, fact in file.metadata.items() if name != "tags"},
    )


def _start(file: TaskFile, folder: Path, root: Path) -> RepoStart | FolderStart:
    told = file.start
    if told is None:
        environment = folder / ENVIRONMENT
        dockerfile = environment / DOCKERFILE
        return FolderStart(
            files=dict(_digests(environment)),
            image=file.environment.docker_image,
            dockerfile=_text(dockerfile) if dockerfile.is_file() else None,
            workdir=file.environment.workdir,
            memory_mb=file.environment.memory_mb,
            cpus=file.environment.cpus,
            build_limit_s=_build_limit(file) if dockerfile.is_file() else None,
        )
    where = f"{folder / FILE}, [start]"
    if told.commit is None and told.snapshot is None and told.patch is None:
        raise UsageError("the workspace begins with nothing", where=where, fix="give a 'commit'")
    patch = "" if told.patch is None else _patch(_inside(folder, told.patch, where))
    return RepoStart(
        repo=os.path.normpath(root / told.repo),
        commit=told.commit,
        snapshot=told.snapshot,
        patch=patch,
        grade=told.grade,
        unknown=told.unknown,
    )


def _verifier(file: TaskFile, folder: Path) -> Verifier:
    told = file.verifier
    hidden = _small_files(folder / HIDDEN)
    if told.command is not None and told.judge is not None:
        raise UsageError(
            "a command and a judge cannot both decide",
            where=f"{folder / FILE}, [verifier]",
            fix="keep one of them",
        )
    line, place = told.command, None
    if line is None and told.judge is None and (folder / TESTS_FOLDER / TEST_SCRIPT).is_file():
        line, place = f"chmod +x {TESTS}/{TEST_SCRIPT} && {TESTS}/{TEST_SCRIPT}", TESTS
        if hidden or told.hidden:
            raise UsageError(
                f"files are hidden both in {HIDDEN}/ and in {TESTS_FOLDER}/",
                where=str(folder),
                fix=f"put them all into {TESTS_FOLDER}/, or give a 'command'",
            )
        hidden = _small_files(folder / TESTS_FOLDER)
    if line is None and told.judge is None:
        raise UsageError(
            "nothing verifies the task",
            where=f"{folder / FILE}, [verifier]",
            fix="give a 'command', such as \"npm test\", a 'judge', or the script tests/test.sh",
        )
    command = None if line is None else Command(line, told.timeout_sec, told.env)
    judge = None if told.judge is None else _judge(told.judge, folder)
    return Verifier(command, judge, hidden, told.hidden, told.protected, place)


def _judge(told: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return a judge with the text of its rubric: what it goes by is part of the task."""
    rubric = told.get("rubric")
    if not isinstance(rubric, str):
        return dict(told)
    where = f"{folder / FILE}, [verifier.judge]"
    return {**told, "rubric": text_kept(text_given(rubric, folder, where))}


def _build_limit(file: TaskFile) -> float | None:
    """Return the seconds that building an image may take; None is the usual."""
    limit = file.environment.build_timeout_sec
    return None if limit == BUILD_LIMIT_S else limit


def _setup(file: TaskFile) -> Command | None:
    line = file.environment.setup
    return None if line is None else Command(line, file.environment.build_timeout_sec)


def _origin(file: TaskFile) -> Origin | None:
    told = file.origin
    return None if told is None else Origin(told.session, told.agent, told.flags, told.ended_at)


def _small_files(folder: Path) -> Mapping[str, bytes]:
    found: dict[str, bytes] = {}
    size = 0
    for path in _files(_folder(folder)):
        if path.is_symlink():
            raise UsageError(f"a file of {folder.name}/ cannot be a link", where=str(path))
        if not path.is_file():
            raise UsageError("it is neither a file nor a folder", where=str(path), fix="remove it")
        size += path.stat().st_size
        if size > HIDDEN_LIMIT:
            raise UsageError(f"over {HIDDEN_LIMIT:,} bytes of files", where=str(folder))
        found[path.relative_to(folder).as_posix()] = path.read_bytes()
    return found


def _folder(path: Path) -> Path:
    if path.exists() and not path.is_dir():
        raise UsageError("it is no folder", where=str(path), fix="remove it, or put files below it")
    return path


def _digests(folder: Path) -> Iterator[tuple[str, str]]:
    for path in _files(folder):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            yield name, f"->{path.readlink()}"
        elif not path.is_file():
            raise UsageError("it is neither a file nor a folder", where=str(path), fix="remove it")
        elif name != DOCKERFILE:
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            yield name, ("x" if path.stat().st_mode & stat.S_IXUSR else "") + digest


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files and links of a folder in order; a link to a folder is not followed."""
    for place, folders, files in os.walk(folder):
        links = [name for name in folders if Path(place, name).is_symlink()]
        folders[:] = sorted(set(folders) - set(links))
        yield from sorted(Path(place, name) for name in (*files, *links))


def _inside(folder: Path, name: str, where: str) -> Path:
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise UsageError(f"{name} lies outside of the task's folder", where=where)
    return path


def _patch(path: Path) -> str:
    """Return a patch; what a file in it holds need not be UTF-8, and goes through unchanged."""
    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise UsageError("it is no file", where=str(path), fix="remove it")
    return path.read_bytes().decode("utf-8", "surrogateescape")


def _text(path: Path) -> str:
    try:
        # Editors of Windows begin a file with a mark of its encoding.
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"this is not UTF-8 (at byte {error.start:,})", where=str(path)) from None
