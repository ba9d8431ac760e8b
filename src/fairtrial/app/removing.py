"""Removing sessions and snapshots of repositories for good."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from fairtrial.app.bench import Bench
from fairtrial.app.captured import bring_snapshots
from fairtrial.app.journals import forget_journals
from fairtrial.model.errors import NotFoundError
from fairtrial.model.snapshot import Snapshot

_EVERY = 2**31


def remove_sessions(bench: Bench, session_ids: Sequence[str]) -> int:
    """Remove sessions with the snapshots taken in them; return the bytes set free.

    A snapshot that an eval task begins with stays as long as the task.

    Raises:
        StoreError: the store cannot be written.
    """
    if not session_ids:
        return 0
    store = bench.store
    bring_snapshots(bench)
    found = store.sessions.many(session_ids)
    held = store.suites.snapshots()
    files = [path for one in found for path in one.session.files]
    taken = [
        snapshot
        for one in found
        for snapshot in store.snapshots.of_session(one.session.agent, one.session.native_id)
        if snapshot.id not in held
    ]
    freed = store.sessions.remove(session_ids) + _remove(bench, taken)
    return freed + forget_journals(bench, files)


def remove_snapshots(bench: Bench, cutoff: datetime) -> int:
    """Remove the snapshots that were taken before, but for those of eval tasks; return how many.

    Raises:
        StoreError: the store cannot be written.
    """
    bring_snapshots(bench)
    old = old_snapshots(bench, cutoff)
    _remove(bench, old)
    return len(old)


def old_snapshots(bench: Bench, cutoff: datetime) -> list[Snapshot]:
    """Return the snapshots that were taken before and that no eval task begins with.

    Raises:
        StoreError: the store cannot be read.
    """
    held = bench.store.suites.snapshots()
    every = bench.store.snapshots.newest(_EVERY)
    return [one for one in every if one.taken_at < cutoff and one.id not in held]


def snapshots_of_tasks(bench: Bench, session_ids: Sequence[str]) -> dict[str, str]:
    """Return the snapshots of sessions that eval tasks begin with, and a task of each.

    Raises:
        StoreError: the store cannot be read.
    """
    held = bench.store.suites.snapshots()
    if not held:
        return {}
    bring_snapshots(bench)
    return {
        snapshot.id: held[snapshot.id]
        for one in bench.store.sessions.many(session_ids)
        for snapshot in bench.store.snapshots.of_session(one.session.agent, one.session.native_id)
        if snapshot.id in held
    }


def remove_orphans(bench: Bench, snapshot_ids: Sequence[str]) -> list[str]:
    """Remove those of some snapshots that neither a session nor an eval task has; return which.

    Raises:
        StoreError: the store cannot be written.
    """
    held = bench.store.suites.snapshots()
    found = []
    for snapshot_id in dict.fromkeys(snapshot_ids):
        try:
            snapshot = bench.store.snapshots.find(snapshot_id)
        except NotFoundError:
            continue
        if snapshot.id not in held and not _has_session(bench, snapshot):
            found.append(snapshot)
    _remove(bench, found)
    return [one.id for one in found]


def _has_session(bench: Bench, snapshot: Snapshot) -> bool:
    try:
        found = bench.store.sessions.find(snapshot.native_id).session
    except NotFoundError:
        return False
    return found.agent == snapshot.agent


def _remove(bench: Bench, snapshots: Sequence[Snapshot]) -> int:
    if not snapshots:
        return 0
    from fairtrial.workspaces.snapshots.files import GitSnapshotFiles  # noqa: PLC0415  # runs git

    freed = GitSnapshotFiles(bench.home, bench.environ).remove(snapshots)
    bench.store.snapshots.forget(snapshots)
    return freed
