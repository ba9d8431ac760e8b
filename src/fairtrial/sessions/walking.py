"""Finding files under a folder, quickly and whatever is in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


def files_under(folder: Path, endings: tuple[str, ...]) -> Iterator[Path]:
    """Yield the files whose names end so, in order of their paths; what cannot be read is not.

    Links to folders are not followed, so a circle has an end.
    """
    for path in _walk(str(folder), endings):
        yield Path(path)


def _walk(folder: str, endings: tuple[str, ...]) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in found:
        try:
            if entry.is_dir(follow_symlinks=False):
                yield from _walk(entry.path, endings)
            elif entry.name.endswith(endings) and entry.is_file():
                yield entry.path
        except OSError:
            continue
