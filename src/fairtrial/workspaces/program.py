"""From the program a user named to one that can run, with mistakes found before a run."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fairtrial.model.errors import UsageError
from fairtrial.ports import Surroundings
from fairtrial.workspaces.environment import child_environment


@dataclass(frozen=True)
class ProgramOptions:
    """The options of every kind that runs a program."""

    command: str | tuple[str, ...]
    """The program: a text for `/bin/sh -c`, or a list of the program and its arguments."""
    cwd: str | None = None
    """Its working directory, relative to the spec's folder (default: that folder)."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables to set; `${NAME}` in a value is fairtrial's own variable NAME."""
    pass_env: tuple[str, ...] = ()
    """Variables of fairtrial's environment, or patterns such as `AWS_*`, that pass to it."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program that was found.

    Attributes:
        argv: The program and its arguments; a text stands behind a shell, untouched.
        env: Its whole environment.
        cwd: Its working directory.
        in_shell: A shell runs it.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path
    in_shell: bool


def find_program(options: ProgramOptions, surroundings: Surroundings, where: str) -> Program:
    """Return the program of some options.

    Raises:
        UsageError: the program, its folder or a variable it needs does not exist.
    """
    cwd = surroundings.base_dir / (options.cwd or "")
    if not cwd.is_dir():
        raise UsageError(
            f"{cwd} is no folder" if cwd.exists() else f"there is no folder {cwd}",
            where=f"{where}, option 'cwd'",
            fix=f"a relative path starts at {surroundings.base_dir}",
        )
    env = child_environment(surroundings.environ, options.env, options.pass_env, f"{where}, 'env'")
    argv = _argv_of(options.command, env, cwd, f"{where}, option 'command'")
    return Program(argv, env, cwd, isinstance(options.command, str))


def _argv_of(
    command: str | tuple[str, ...], env: Mapping[str, str], cwd: Path, where: str
) -> tuple[str, ...]:
    if "\0" in "".join(command):
        raise UsageError("the command holds a NUL character", where=where)
    first = command.strip() if isinstance(command, str) else "".join(command[:1])
    if not first:
        raise UsageError("the command is empty", where=where)
    if isinstance(command, str):
        return ("/bin/sh", "-c", command)
    return (_found(first, env, cwd, where), *command[1:])


def _found(name: str, env: Mapping[str, str], cwd: Path, where: str) -> str:
    search = env.get("PATH", os.defpath)
    path = str(cwd / name) if "/" in name else name
    found = shutil.which(path, path=search)
    if found is not None:
        return found
    if "/" in name and os.path.isdir(path):  # noqa: PTH112  # `path` is a text for `which`
        raise UsageError(f"{path} is a folder, not a program", where=where)
    if "/" in name and os.path.exists(path):  # noqa: PTH110
        raise UsageError(f"{path} is not executable", where=where, fix=f"chmod +x {path}")
    advice = "check its name"
    if " " in name:
        advice = "give each argument as its own text, or the whole command as one text"
    elif "/" in name:
        advice = f"a relative path starts at 'cwd', which is {cwd}"
    raise UsageError(
        f"there is no program {name!r}",
        where=where,
        why=None if "/" in name else f"it is in no folder of PATH ({search})",
        fix=advice,
    )
