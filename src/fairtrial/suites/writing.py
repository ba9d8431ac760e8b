"""Writing the folder of an eval task."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from fairtrial.model.eval_task import EvalTask, FolderStart, RepoStart
from fairtrial.suites.folders import (
    DOCKERFILE,
    ENVIRONMENT,
    HIDDEN,
    INSTRUCTION,
    NEAR_MISSES,
    REFERENCE,
    SOLUTION_FOLDER,
    START,
    TESTS_FOLDER,
)
from fairtrial.suites.task_file import FILE

SCHEMA_VERSION: Final = "1.1"
"""The version of Harbor's `task.toml` whose words are used."""


README: Final = "README.md"

_README: Final = """\
# Eval tasks

Each folder in `tasks` is one task for a coding agent, made of a session that went wrong:

- `task.toml`: what its workspace begins with, what makes it ready, what verifies it
- `instruction.md`: what the agent is told
- `start.patch`: what differed from the commit
- `reference.patch`: a correct change, which you add
- `near_misses/`: changes that the verifier must fail; `session.patch` is the session's own
- `hidden/`: files that only the verifier sees

Read the session before you keep its task. After an edit, load the task and validate it:

    fairtrial eval import evals/SUITE/tasks/TASK
    fairtrial eval validate TASK
"""


def write_task(
    task: EvalTask, folder: Path, root: Path, environment: Mapping[str, Path] | None = None
) -> None:
    """Write a task; its folder is made, must not be there, and appears whole or not at all.

    Args:
        task: The task.
        folder: Where to.
        root: The repository that the suite lies in.
        environment: Of a task that begins as a folder, what that holds, by path.

    Raises:
        FileExistsError: the folder is there.
        OSError: it cannot be written.
    """
    if folder.exists():
        raise FileExistsError(folder)
    partial = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        _write(partial / FILE, task_file_text(task, root))
        _write(partial / INSTRUCTION, task.instruction)
        if isinstance(task.start, RepoStart) and task.start.patch:
            _write(partial / START, task.start.patch)
        if task.reference is not None:
            _write(partial / REFERENCE, task.reference)
        for name, patch in task.near_misses.items():
            _write(partial / NEAR_MISSES / f"{name}.patch", patch)
        hidden = HIDDEN if task.verifier.place is None else TESTS_FOLDER
        for place, files in ((hidden, task.verifier.hidden), (SOLUTION_FOLDER, task.solution)):
            for name, data in files.items():
                path = partial / place / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
                path.chmod(0o755 if name.endswith(".sh") else 0o644)
        if isinstance(task.start, FolderStart) and task.start.dockerfile is not None:
            _write(partial / ENVIRONMENT / DOCKERFILE, task.start.dockerfile)
        for name, source in (environment or {}).items():
            target = partial / ENVIRONMENT / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if name != DOCKERFILE:
                shutil.copy2(source, target, follow_symlinks=False)
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def write_suite_readme(suite: Path) -> None:
    """Write what a suite's folder is into it, unless there is such a file.

    Raises:
        OSError: it cannot be written.
    """
    with suppress(FileExistsError), (suite / README).open("x", encoding="utf-8") as stream:
        stream.write(_README)


def task_file_text(task: EvalTask, root: Path) -> str:
    """Return the text of a task's `task.toml`, with comments on what its author may fill in."""
    from tomlkit import comment, document, dumps, nl, table  # noqa: PLC0415  # writing is rare

    text = document()
    text.add("schema_version", SCHEMA_VERSION)
    text.add("task", _table(table(), {"name": f"{task.suite}/{task.name}"}))
    text.add("metadata", _table(table(), {"tags": list(task.tags), **task.metadata}))
    text.add("agent", _table(table(), {"timeout_sec": task.agent_limit_s}))
    text.add("verifier", _table(table(), _verifier(task)))
    text.add("environment", _table(table(), _environment(task)))
    if isinstance(task.start, RepoStart):
        text.add("start", _table(table(), _start(task.start, root)))
    if task.origin is not None:
        told = task.origin
        origin = {"session": told.session, "agent": told.agent, "flags": list(told.flags)}
        text.add("origin", _table(table(), {**origin, "ended_at": told.ended_at}))
    if not task.has_reference:
        text.add(nl())
        text.add(comment("A correct change belongs into reference.patch, beside this file."))
    return dumps(text)


def _verifier(task: EvalTask) -> dict[str, Any]:
    verifier, command = task.verifier, task.verifier.command
    return {
        "timeout_sec": None if command is None else command.time_limit_s,
        "command": None if command is None or verifier.place is not None else command.line,
        "judge": None if verifier.judge is None else dict(verifier.judge),
        "hidden": list(verifier.patterns) or None,
        "protected": list(verifier.protected) or None,
        "env": dict(command.env) if command is not None and command.env else None,
    }


def _environment(task: EvalTask) -> dict[str, Any]:
    told: dict[str, Any] = {}
    if isinstance(task.start, FolderStart):
        start = task.start
        told = {
            "docker_image": start.image,
            "workdir": start.workdir,
            "memory_mb": start.memory_mb,
            "cpus": start.cpus,
            "build_timeout_sec": start.build_limit_s,
        }
    if task.setup is not None:
        told |= {"setup": task.setup.line, "build_timeout_sec": task.setup.time_limit_s}
    return told


def _start(start: RepoStart, root: Path) -> dict[str, Any]:
    repo = Path(start.repo)
    inside = repo.is_relative_to(root)
    return {
        "repo": repo.relative_to(root).as_posix() if inside else start.repo,
        "commit": start.commit,
        "snapshot": start.snapshot,
        "patch": START if start.patch else None,
        "grade": start.grade,
        "unknown": list(start.unknown) or None,
    }


def _table(made: Any, values: dict[str, Any]) -> Any:
    for name, value in values.items():
        if value is not None:
            made.add(name, value)
    return made


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
