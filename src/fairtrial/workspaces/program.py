"""From the command a user wrote to an argument vector, with mistakes found before a run."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from fairtrial.model.errors import UsageError

_PLAIN_FIRST_WORD = re.compile(r"\s*([\w./][\w./+@:%-]*)(?=\s|$)", re.ASCII)
_MAY_GO_ON = re.compile(r"\|\||[;&\n]")
"""What lets a shell command go on after its first word was not found."""


def argv_of(
    command: str | tuple[str, ...], env: Mapping[str, str], cwd: Path, where: str
) -> tuple[str, ...]:
    """Return the argument vector of a command: a text goes to the shell, untouched.

    Args:
        command: A text for the shell, or a program with its arguments.
        env: The program's environment; its `PATH` is searched.
        cwd: The program's working directory; a relative program starts there.
        where: For error messages.

    Raises:
        UsageError: the command is empty, or its program is not found or not executable.
    """
    text = command if isinstance(command, str) else "\n".join(command)
    if "\0" in text:
        raise UsageError("the command holds a NUL character", where=where)
    if isinstance(command, str):
        if not command.strip():
            raise UsageError("the command is empty", where=where)
        return ("/bin/sh", "-c", command)
    if not command or not command[0]:
        raise UsageError("the command is empty", where=where)
    return (_program(command[0], env, cwd, where), *command[1:])


def shell_word(command: str) -> str | None:
    """Return the first word of a shell command, when the command fails if that is no program.

    None when that cannot be told from the text: the word is quoted, an assignment or an
    expansion, or the command may go on without it.
    """
    match = _PLAIN_FIRST_WORD.match(command)
    return None if match is None or _MAY_GO_ON.search(command) else match[1]


def _program(name: str, env: Mapping[str, str], cwd: Path, where: str) -> str:
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
