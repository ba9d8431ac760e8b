"""The content of the files that graders run: two graders of one spec may still be two graders."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from fairtrial.analysis.programs import program_words
from fairtrial.model.grader import GraderSpec
from fairtrial.model.json import Json


def script_digests(graders: Iterable[tuple[GraderSpec, Path]]) -> dict[str, str]:
    """Return the digest of each grader's own file, by the grader's name.

    Only a file in the spec's folder is the user's to change between two runs: the script of a
    command, or the module of a function. A grader without one is absent, and so is one whose file
    cannot be read: what runs it says so.

    Args:
        graders: Specs, each with the folder where its relative paths start.
    """
    found = {}
    for spec, folder in graders:
        path = own_file(spec.options, folder)
        if path is not None:
            try:
                found[spec.name] = hashlib.sha256(path.read_bytes()).hexdigest()
            except OSError:
                continue
    return found


def own_file(options: Mapping[str, Json], folder: Path) -> Path | None:
    """Return the file in a folder that a command or a function is written in; None without one.

    Args:
        options: The options of a task or a grader.
        folder: Where relative paths in them start.
    """
    folder = folder.resolve()
    if "function" in options:
        module = str(options["function"]).partition(":")[0].replace(".", "/")
        named = [folder / f"{module}.py", folder / module / "__init__.py"]
    elif "command" in options:
        words = program_words(_plain(options["command"]))
        cwd = folder / str(options.get("cwd") or "")
        named = [cwd / words[-1]] if words else []
    else:
        named = []
    return next((path for path in named if _is_file_in(folder, path)), None)


def _plain(command: Json) -> str | tuple[str, ...]:
    return command if isinstance(command, str) else tuple(str(word) for word in command)


def _is_file_in(folder: Path, path: Path) -> bool:
    try:
        return path.resolve().is_relative_to(folder) and path.is_file()
    except (OSError, ValueError):  # a word that is no path, such as one with a NUL or too long
        return False
