"""`prune`: removes what is old, for good."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from fairtrial.app.bench import Bench
from fairtrial.app.captured import bring_snapshots
from fairtrial.app.quantities import seconds_of
from fairtrial.app.removing import old_snapshots, remove_sessions, remove_snapshots
from fairtrial.app.reports.prune import PruneReport
from fairtrial.app.requests.prune import Request
from fairtrial.model.errors import RefusedError, UsageError
from fairtrial.ports.pruning import Kept
from fairtrial.ports.sessions import SessionQuery

_ALL = "all"


def prune(bench: Bench, request: Request) -> PruneReport:
    """Remove what is old, and return how many of each kind.

    Raises:
        UsageError: nothing says what or how old, or it is not understood.
        RefusedError: something would be removed, and --yes is missing.
        StoreError: the store cannot be written.
    """
    bring_snapshots(bench)
    pruner = bench.store.pruner
    cutoffs = _cutoffs(bench, request)
    counts = {kept.value: _due(bench, kept, cutoff) for kept, cutoff in cutoffs.items()}
    before = pruner.sizes()
    if request.dry_run:
        return PruneReport(counts, dry_run=True, before=before, after=before, compacted=None)
    if any(counts.values()) and not request.yes:
        told = ", ".join(f"{kind} ({n:,})" for kind, n in counts.items() if n)
        raise RefusedError(
            f"this would remove for good: {told}",
            fix="add --yes to remove them, or --dry-run to see the sizes",
        )
    ways = _ways(bench)
    removed = {kept.value: ways[kept](cutoff) for kept, cutoff in cutoffs.items()}
    # Remains of what an older version removed go too.
    compacted = pruner.compact()
    return PruneReport(
        removed, dry_run=False, before=before, after=pruner.sizes(), compacted=compacted
    )


def _cutoffs(bench: Bench, request: Request) -> Mapping[Kept, datetime]:
    if request.older_than is None and request.keep is None:
        raise UsageError(
            "nothing says how much to remove", fix="give --older-than 90d, --keep 100, or both"
        )
    before = None
    if request.older_than is not None:
        age = seconds_of(request.older_than, "--older-than")
        before = bench.clock.now() - timedelta(seconds=age)
    found = {}
    for kept in _kinds(request.what):
        cutoff = bench.store.pruner.cutoff(kept, before, request.keep)
        if cutoff is not None:
            found[kept] = cutoff
    return found


def _kinds(what: Sequence[str]) -> Sequence[Kept]:
    known = [kept.value for kept in Kept]
    listed = f"any of: {', '.join(known)}, {_ALL}"
    if not what:
        raise UsageError("nothing says what to remove", fix=listed)
    for word in what:
        if word not in (*known, _ALL):
            near = difflib.get_close_matches(word, [*known, _ALL], n=1)
            raise UsageError(
                f"there is nothing called {word!r} to remove",
                fix=f"did you mean {near[0]}?" if near else listed,
            )
    return [kept for kept in Kept if _ALL in what or kept.value in what]


def _due(bench: Bench, kept: Kept, cutoff: datetime) -> int:
    """Return how many of a kind would be removed."""
    if kept is Kept.SNAPSHOTS:
        return len(old_snapshots(bench, cutoff))
    return bench.store.pruner.older(kept, cutoff)


def _ways(bench: Bench) -> Mapping[Kept, Callable[[datetime], int]]:
    """Return what removes each kind, and returns of how many."""
    store = bench.store
    now = bench.clock.now()

    def age(cutoff: datetime) -> float:
        return (now - cutoff).total_seconds()

    def calls(cutoff: datetime, *, recordings: bool) -> int:
        kept = Kept.RECORDINGS if recordings else Kept.CALLS
        due = store.pruner.older(kept, cutoff)
        if due:
            store.calls.prune(now, age(cutoff), recordings=recordings, others=not recordings)
        return due

    def sessions(cutoff: datetime) -> int:
        ids = store.sessions.ids(SessionQuery(), cutoff)
        remove_sessions(bench, ids)
        return len(ids)

    return {
        Kept.SESSIONS: sessions,
        Kept.CALLS: lambda cutoff: calls(cutoff, recordings=False),
        Kept.RECORDINGS: lambda cutoff: calls(cutoff, recordings=True),
        Kept.OUTPUTS: store.pruner.remove_outputs,
        Kept.CACHE: lambda cutoff: store.answers.prune(now, age(cutoff), None)[0],
        Kept.SNAPSHOTS: lambda cutoff: remove_snapshots(bench, cutoff),
        Kept.LEFTOVERS: store.pruner.remove_leftovers,
    }
