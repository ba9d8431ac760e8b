"""What the values of a `task.toml` cannot be, though their types fit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from fairtrial.model.start_state import Grade

if TYPE_CHECKING:
    from fairtrial.suites.task_file import EnvironmentTable, StartTable, TaskFile, VerifierTable

MOST_LEVELS: Final = 50
"""How deep tables and lists may lie in each other: whatever reads them later has its limits."""

_COMMIT: Final = re.compile(r"[0-9a-fA-F]{3,64}")
_GRADES: Final = tuple(grade.value for grade in Grade if grade is not Grade.CONFLICTING)


def is_too_deep(value: Any, levels: int = MOST_LEVELS) -> bool:
    """Return whether tables and lists lie deeper in each other than they may."""
    if not isinstance(value, (dict, list)):
        return False
    if not levels:
        return True
    inner = value.values() if isinstance(value, dict) else value
    return any(is_too_deep(one, levels - 1) for one in inner)


def impossible_values(file: TaskFile) -> Iterator[str]:
    """Yield what the values of a file cannot be, each with the table that it stands in."""
    yield from (f"[verifier] {problem}" for problem in _verifier(file.verifier))
    yield from (f"[environment] {problem}" for problem in _environment(file.environment))
    if file.start is not None:
        yield from (f"[start] {problem}" for problem in _start(file.start))


def glob_trouble(glob: str) -> str | None:
    """Return why a glob can fit no file of a workspace; None when it may fit one."""
    if "\0" in glob:
        return "holds a NUL character"
    parts = glob.split("/")
    if PurePosixPath(glob).is_absolute() or not set(parts).isdisjoint({"", ".", ".."}):
        return "fits no file: give a path below the workspace, such as tests/*"
    return None


def _verifier(told: VerifierTable) -> Iterator[str]:
    yield from _command("command", told.command)
    for key, globs in (("hidden", told.hidden), ("protected", told.protected)):
        yield from _globs(key, globs)
    yield from _variables(told.env)


def _globs(key: str, globs: Sequence[str]) -> Iterator[str]:
    for glob in globs:
        trouble = glob_trouble(glob)
        if trouble is not None:
            yield f"{glob!r} of {key} {trouble}"


def _variables(env: Mapping[str, str]) -> Iterator[str]:
    for name, value in env.items():
        if not name or "=" in name or "\0" in name:
            yield f"{name!r} of env cannot be the name of a variable"
        elif "\0" in value:
            yield f"the value of {name} in env holds a NUL character"


def _environment(told: EnvironmentTable) -> Iterator[str]:
    yield from _command("setup", told.setup)
    image, folder = told.docker_image, told.workdir
    if image is not None and (not image.strip() or image.startswith("-") or "\0" in image):
        yield f"docker_image cannot be {image!r}"
    if folder is not None and (not folder.startswith("/") or "\0" in folder):
        yield f"workdir must be an absolute path, not {folder!r}"


def _start(told: StartTable) -> Iterator[str]:
    if told.commit is not None and not _COMMIT.fullmatch(told.commit):
        yield (
            f"commit must be the hash of a commit, not {told.commit!r}: "
            "a name could be another commit tomorrow"
        )
    if told.grade not in _GRADES:
        yield f"grade must be {', '.join(_GRADES[:-1])} or {_GRADES[-1]}, not {told.grade!r}"
    for key, path in (("repo", told.repo), ("patch", told.patch), ("snapshot", told.snapshot)):
        if path is not None and ("\0" in path or not path.strip()):
            yield f"{key} cannot be {path!r}"


def _command(key: str, line: str | None) -> Iterator[str]:
    if line is not None and not line.strip():
        yield f"{key} is empty"
    elif line is not None and "\0" in line:
        yield f"{key} holds a NUL character"
