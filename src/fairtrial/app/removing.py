"""Removing sessions and snapshots of repositories for good."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from fairtrial.app.bench import Bench
from fairtrial.app.captured import bring_snapshots
from fairtrial.app.journals import forget_journals
from fairtrial.model.snapshot import Snapshot

_EVERY = 2**31


def remove_sessions(bench: Bench, session_ids: Sequence[str]) -> int:
    """Remove sessions with the snapshots taken in them; return the bytes set free.

    Raises:
        StoreError: the store cannot be written.
    """
    if not session_ids:
        return 0
    store = bench.store
    bring_snapshots(bench)
    found = store.sessions.many(session_ids)
    files = [path for one in found for path in one.session.files]
    taken = [
        snapshot
        for one in found
        for snapshot in store.snapshots.of_session(one.session.agent, one.session.native_id)
    ]
    freed = store.sessions.remove(session_ids) + _remove(bench, taken)
    return freed + forget_journals(bench, files)


def remove_snapshots(bench: Bench, cutoff: datetime) -> int:
    """Remove the snapshots that were taken before; return how many.

    Raises:
        StoreError: the store cannot be written.
    """
    bring_snapshots(bench)
    old = [one for one in bench.store.snapshots.newest(_EVERY) if one.taken_at < cutoff]
    _remove(bench, old)
    return len(old)


def _remove(bench: Bench, snapshots: Sequence[Snapshot]) -> int:
    if not snapshots:
        return 0
    from fairtrial.workspaces.snapshots.files import GitSnapshotFiles  # noqa: PLC0415  # runs git

    freed = GitSnapshotFiles(bench.home, bench.environ).remove(snapshots)
    bench.store.snapshots.forget(snapshots)
    return freed
