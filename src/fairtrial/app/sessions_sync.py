"""`sessions sync`: reads what agents recorded since the last time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fairtrial.app.bench import Bench
from fairtrial.app.captured import bring_snapshots, take_asked_for
from fairtrial.app.journals import journal_folder, remove_read
from fairtrial.app.reports.session_sync import SyncReport
from fairtrial.app.requests.sessions_sync import Request
from fairtrial.model.errors import NotFoundError
from fairtrial.sessions.finding import NewFile, changed, found_files, places_of
from fairtrial.sessions.registry import readers
from fairtrial.store.glance import DATABASE_FILE, known_files

if TYPE_CHECKING:  # it brings what is not needed to see that nothing is new
    from fairtrial.ports.sessions import SessionReader


def sessions_sync(bench: Bench, request: Request) -> SyncReport:
    """Read new sessions and new parts of known ones, and flag them; bring snapshots of hooks, too.

    Raises:
        As `read_transcripts`.
    """
    bring_snapshots(bench)
    everything = not request.path and request.agent is None
    asked = take_asked_for(bench) if everything else []
    report = read_transcripts(bench, request)
    if any(journal_folder(bench).glob("*.jsonl")):
        remove_read(bench)
    if not report.troubles:
        for file in asked:
            file.unlink(missing_ok=True)
    return report


def read_transcripts(bench: Bench, request: Request) -> SyncReport:
    """Read new sessions and new parts of known ones, and flag them.

    Raises:
        UsageError: there is no such agent, or the user's prices cannot be read.
        NotFoundError: there is no such path.
        StoreError: the store cannot be written.
    """
    known_readers = readers([request.agent] if request.agent else ())
    places, files = _found(bench, request, known_readers)
    if request.removed:
        bench.store.sessions.allow_removed()
    database = _database(bench)
    known = None if request.anew or database is None else known_files(database)
    new = changed(files, known or {})
    if not new:
        return SyncReport(places, len(files), 0, 0, (), 0, ())
    # Its modules are not needed to see that nothing is new.
    from fairtrial.app.reading_ahead import reading_ahead  # noqa: PLC0415
    from fairtrial.model.events import FilesRead  # noqa: PLC0415

    troubles: list[str] = []
    with reading_ahead(bench, new, known or {}) as ahead:
        # What the processes that read need to start up, this one needs for its imports.
        from fairtrial.app.session_syncing import muted_flags, syncer  # noqa: PLC0415

        syncing = syncer(bench, troubles.append)
        if ahead is not None:
            ahead.set_up(bench.home, muted_flags(bench))
        outcome = syncing.sync(
            new,
            lambda done, of: bench.publish(FilesRead(done, of)),
            anew=request.anew,
            ahead=ahead,
        )
    store = bench.store.sessions
    return SyncReport(
        places=places,
        files=len(files),
        read=outcome.read,
        bytes=outcome.bytes,
        sessions=outcome.sessions,
        flagged=store.flagged(outcome.sessions),
        troubles=[*troubles, *outcome.troubles],
    )


def _database(bench: Bench) -> Path | None:
    """Return the file of the store's database; None when it is another kind of database."""
    if bench.store_url is None:
        return bench.home / DATABASE_FILE
    kind, slashes, path = bench.store_url.partition(":///")
    return Path(path) if kind == "sqlite" and slashes else None


def _found(
    bench: Bench, request: Request, known: Sequence[SessionReader]
) -> tuple[list[str], list[NewFile]]:
    if not request.path:
        home = Path(bench.environ.get("HOME") or Path.home())
        places = places_of(known, {**bench.environ, "FAIRTRIAL_HOME": str(bench.home)}, home)
        files = list(found_files(known, places))
        return [str(place.folder) for place in places], files
    from fairtrial.sessions.recognising import recognised  # noqa: PLC0415  # rarely asked for

    paths = [bench.path(path) for path in request.path]
    found: dict[str, NewFile] = {}
    for path in paths:
        if not path.exists():
            raise NotFoundError(f"there is no {path}", where="--path")
        found.update((file.found.path, file) for file in recognised(known, path))
    return [str(path) for path in paths], list(found.values())
