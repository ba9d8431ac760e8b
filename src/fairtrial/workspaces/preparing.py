"""Files that are prepared once and kept, one folder for a key."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import hashlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path

from fairtrial.model.errors import Undecidable
from fairtrial.ports import PreparedRepo
from fairtrial.workspaces.copying import remove_tree
from fairtrial.workspaces.places import Places
from fairtrial.workspaces.repository import record_tree

_LOOK_AGAIN_S = 0.02
_FILES, _GIT, _BASE = "files", "git", "base"


async def prepared(
    root: Path,
    places: Places,
    environ: Mapping[str, str],
    key: str,
    fill: Callable[[Path], Awaitable[None]],
) -> PreparedRepo:
    """Return the files of a key; see `Workspaces.prepare`.

    Args:
        root: Where prepared files are kept.
        places: Where they are made, on the same file system.
        environ: Where `PATH` is taken from.
        key: Names the content.
        fill: Writes it.

    Raises:
        Undecidable: they cannot be kept, or git cannot read them.
    """
    folder = root / hashlib.sha256(key.encode()).hexdigest()[:32]
    try:
        base = _base_of(folder)
        if base is None:
            async with _one_at_a_time(folder.with_suffix(".lock")):
                base = _base_of(folder) or await _make(folder, places, environ, fill)
    except OSError as problem:
        raise Undecidable(f"the files of a trial could not be prepared: {problem}") from problem
    return PreparedRepo(key, (folder / _FILES,), base, folder / _GIT)


async def _make(
    folder: Path,
    places: Places,
    environ: Mapping[str, str],
    fill: Callable[[Path], Awaitable[None]],
) -> str:
    place = places.new()
    files = _new_folder(place / _FILES)
    try:
        await fill(files)
        base = await asyncio.to_thread(record_tree, place / _GIT, files, environ)
        (place / _BASE).write_text(base)
        place.rename(folder)  # whole, or not at all
        return base
    finally:
        await asyncio.to_thread(remove_tree, place)


def _new_folder(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def _base_of(folder: Path) -> str | None:
    try:
        return (folder / _BASE).read_text()
    except FileNotFoundError:
        _new_folder(folder.parent)
        return None


@contextlib.asynccontextmanager
async def _one_at_a_time(file: Path) -> AsyncIterator[None]:
    lock = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                await asyncio.sleep(_LOOK_AGAIN_S)
        yield
    finally:
        os.close(lock)
