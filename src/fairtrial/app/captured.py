"""Bringing what hooks left behind into the store, where a command comes across it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from fairtrial.app.bench import Bench
from fairtrial.model.snapshot import Snapshot
from fairtrial.sessions.capture.folder import CaptureFolder


def bring_snapshots(bench: Bench) -> None:
    """Bring snapshots that hooks left into the store; most often there is none.

    Raises:
        StoreError: the store cannot be written.
    """
    for file, facts in list(CaptureFolder(bench.home).snapshots()):
        snapshot = _snapshot(facts)
        if snapshot is not None:
            bench.store.snapshots.save([snapshot])
        file.unlink(missing_ok=True)


def take_asked_for(bench: Bench) -> list[Path]:
    """Take the files by which hooks ask for transcripts to be read; to be removed afterwards."""
    folder = CaptureFolder(bench.home)
    taken = []
    for file, _ in list(folder.finished()):
        with suppress(OSError):  # another process was faster
            taken.append(folder.take(file))
    return taken


def _snapshot(facts: dict[str, Any]) -> Snapshot | None:
    import msgspec  # noqa: PLC0415  # where nothing was left it is not needed

    try:
        return msgspec.convert(facts, Snapshot)
    except msgspec.ValidationError:
        return None  # damaged by hand: hooks write them whole
