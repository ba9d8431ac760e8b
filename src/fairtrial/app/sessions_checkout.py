"""`sessions checkout`: the repository as it was before a session."""

from __future__ import annotations

from pathlib import Path

from fairtrial.app.bench import Bench
from fairtrial.app.reports.session_start import CheckoutReport
from fairtrial.app.requests.sessions_checkout import Request
from fairtrial.app.session_starts import start_of
from fairtrial.model.errors import NotFoundError, RefusedError
from fairtrial.model.start_state import Grade, StartState
from fairtrial.sessions.start_state.laying_out import LaidOut, empty, lay_out
from fairtrial.workspaces.snapshots.files import GitSnapshotFiles


def sessions_checkout(bench: Bench, request: Request) -> CheckoutReport:
    """Write the files that a session began with into a folder.

    Raises:
        NotFoundError: the reference names no session, or several; or nothing of its repository
            is there any more.
        RefusedError: what the transcript tells contradicts the commit, and --force is missing.
        UsageError: the folder is not empty, or cannot be written.
        StoreError: the session's events are damaged, or git cannot read the commit.
    """
    store = bench.store.sessions
    session = store.find(request.session).session
    repo = None if request.repo is None else bench.path(request.repo)
    state = start_of(bench, session, store.events(session.id), repo)
    if state.grade is None:
        raise NotFoundError(
            f"what {session.id} began with cannot be rebuilt",
            why="; ".join(state.reasons),
            fix="name a clone that holds its commit with --repo",
        )
    if state.grade is Grade.CONFLICTING and not request.force:
        raise RefusedError(
            f"what {session.id} tells of its files contradicts the commit",
            why="; ".join(f"{one.path}: {one.reason}" for one in state.conflicts[:3]),
            fix="add --force to write it all the same",
        )
    folder = bench.path(request.folder)
    laid_out = _written(bench, state, folder)
    return CheckoutReport(session.id, state, folder, laid_out)


def _written(bench: Bench, state: StartState, folder: Path) -> LaidOut:
    if state.snapshot_id is None:
        return lay_out(state, folder, bench.environ)
    empty(folder)
    snapshot = bench.store.snapshots.find(state.snapshot_id)
    GitSnapshotFiles(bench.home, bench.environ).restore(snapshot, folder)
    return LaidOut(sum(not place.is_dir() or place.is_symlink() for place in folder.rglob("*")), ())
