"""Journals that programs left: read by `sessions sync`, and removed once nothing more will come."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from fairtrial.app.bench import Bench
from fairtrial.sessions.journal import is_over
from fairtrial.sessions.readers.recorded.reader import FOLDER


def journal_folder(bench: Bench) -> Path:
    """Return where journals are."""
    return bench.home / FOLDER


def remove_read(bench: Bench) -> None:
    """Remove the journals that are in the store whole and whose programs have ended."""
    folder = journal_folder(bench)
    if not folder.is_dir():
        return
    marks = bench.store.sessions.marks()
    for path in sorted(folder.glob("*.jsonl")):
        with suppress(OSError):
            if path.is_symlink() or not path.is_file():
                continue
            mark = marks.get(str(path))
            size = path.stat().st_size
            # What a crash tore is no line, and never will be one.
            if mark is not None and mark.size == size and is_over(path):
                path.unlink()


def forget_journals(bench: Bench, paths: Iterable[str]) -> int:
    """Remove the journals among the files of sessions; return their bytes."""
    folder, freed = journal_folder(bench), 0
    for name in paths:
        path = Path(name)
        if path.parent == folder:
            with suppress(OSError):
                freed += path.stat().st_size
                path.unlink()
    return freed
