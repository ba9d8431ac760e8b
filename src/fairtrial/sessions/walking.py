"""Finding files under a folder, quickly and whatever is in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from fairtrial.ports.transcript_files import FoundFile


def files_under(folder: Path, endings: tuple[str, ...]) -> Iterator[FoundFile]:
    """Yield the files whose names end so, in order of their paths; what cannot be read is not.

    A file may be given itself, whatever its name. Links to folders are not followed, so a circle
    has an end.
    """
    if folder.is_file():
        told = folder.stat()
        yield FoundFile(str(folder), told.st_ino, told.st_size, told.st_mtime_ns)
        return
    yield from _walk(str(folder), endings)


def _walk(folder: str, endings: tuple[str, ...]) -> Iterator[FoundFile]:
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in found:
        try:
            if entry.name.endswith(endings):
                told = entry.stat()
                if entry.is_file():
                    yield FoundFile(entry.path, told.st_ino, told.st_size, told.st_mtime_ns)
            elif entry.is_dir(follow_symlinks=False):
                yield from _walk(entry.path, endings)
        except OSError:
            continue
