"""What every reader of other tools' tasks gives, and what they read with."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from fairtrial.model.errors import UsageError
from fairtrial.model.eval_task import EvalTask

LONGEST: Final = 16 * 1024 * 1024
"""Bytes that the tests or the solution of a task may have, and any text file of it."""
NETWORK: Final = (
    "nothing but the model is reached while it runs: neither the agent nor the tests have a network"
)
_FETCHES: Final = re.compile(
    r"\b(?:curl|wget|git\s+clone|apt-get|apt|apk|dnf|pip3?|uvx?|npm|npx|cargo|conda)\s+"
    r"(?:-\S+\s+)*(?:install|update|add|sync|run|ci|https?://|-[LfsS]+)|\buvx\s|https?://",
)


@dataclass(frozen=True, slots=True)
class ForeignTask:
    """A task of another tool.

    Attributes:
        task: The task; its suite is empty, and the files of its start are not told yet.
        environment: What lies in the folder that the workspace begins as, or that its image is
            built from, by path.
        lost: What of it fairtrial cannot hold, a line each.
    """

    task: EvalTask
    environment: Mapping[str, Path] = field(default_factory=dict)
    lost: tuple[str, ...] = ()


def text_of(path: Path) -> str:
    """Return the text of a file.

    Raises:
        UsageError: it cannot be read, is a link, is too long, or is no UTF-8.
    """
    try:
        if path.is_symlink() or path.parent.is_symlink():
            # It could lead to what is nobody else's to read, and be told to a model.
            raise UsageError("this is a link", where=str(path), fix="put the file in its place")
        if path.stat().st_size > LONGEST:
            raise UsageError(f"this has over {LONGEST:,} bytes", where=str(path))
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"this is not UTF-8 (at byte {error.start:,})", where=str(path)) from None
    except OSError as error:
        raise UsageError(f"this cannot be read: {error.strerror}", where=str(path)) from None


def files_below(folder: Path) -> dict[str, Path]:
    """Return the files and links below a folder by path; links to folders are not followed.

    Raises:
        UsageError: a link leads out of the folder, or something is neither file nor folder.
    """
    found: dict[str, Path] = {}
    if folder.is_symlink():
        raise UsageError("this is a link", where=str(folder), fix="put the folder in its place")
    top = Path(os.path.normpath(folder.absolute()))
    for path in _walk(top):
        if path.is_symlink():
            target = os.path.normpath(path.parent / path.readlink())
            if not Path(target).is_relative_to(top):
                raise UsageError("the link leads out of the task's folder", where=str(path))
        elif not path.is_file():
            raise UsageError("it is neither a file nor a folder", where=str(path))
        found[path.relative_to(top).as_posix()] = path
    return found


def contents_below(folder: Path) -> dict[str, bytes]:
    """Return the contents of the files below a folder; none when it is not there.

    Raises:
        UsageError: they are too large, or one is a link.
    """
    found: dict[str, bytes] = {}
    size = 0
    for name, path in files_below(folder).items():
        if path.is_symlink():
            raise UsageError("a file of tests or solution cannot be a link", where=str(path))
        size += path.stat().st_size
        if size > LONGEST:
            raise UsageError(f"over {LONGEST:,} bytes of files", where=str(folder))
        found[name] = path.read_bytes()
    return found


def fetches(script: str) -> str | None:
    """Return the first line of a shell script that seems to need the network; None without."""
    for line in script.splitlines():
        if not line.lstrip().startswith("#") and _FETCHES.search(line):
            return line.strip()
    return None


def unknown_keys(told: Mapping[str, Any], known: Mapping[str, Any], below: str = "") -> list[str]:
    """Return the keys of nested tables that are not known, with dots between.

    Args:
        told: The tables.
        known: A table for a known table, anything else for a known key; `None` takes all below.
        below: Where they stand.
    """
    found = []
    for key, value in told.items():
        name = f"{below}{key}"
        if key not in known:
            found.append(name)
        elif isinstance(known[key], Mapping) and isinstance(value, Mapping):
            found += unknown_keys(value, known[key], f"{name}.")
    return found


def _walk(top: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(top):
        links = [name for name in folders if Path(place, name).is_symlink()]
        folders[:] = sorted(set(folders) - set(links))
        yield from sorted(Path(place, name) for name in (*files, *links))
