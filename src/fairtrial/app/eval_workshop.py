"""What runs eval tasks on a bench: their workspaces, and the transcripts of their agents."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from ulid import ULID

from fairtrial.app.bench import Bench
from fairtrial.app.session_syncing import syncer
from fairtrial.ports import Workspace
from fairtrial.sessions.recognising import recognised
from fairtrial.sessions.registry import readers
from fairtrial.suites.folders import ENVIRONMENT
from fairtrial.suites.starting import Sources
from fairtrial.suites.workshop import Kept, Means, Workshop
from fairtrial.workspaces.levels import LocalWorkspaces
from fairtrial.workspaces.snapshots.files import GitSnapshotFiles


def workshop_of(bench: Bench, programs: Workspace) -> tuple[Workshop, LocalWorkspaces]:
    """Return what runs eval tasks, and what is to be closed once their workspaces have ended.

    What killed runs have left is removed first.

    Args:
        bench: The workbench.
        programs: Runs programs of level `none`; whoever made it opens and closes it.
    """
    workspaces = LocalWorkspaces(bench.home, programs, bench.environ, lambda: str(ULID()).lower())
    workspaces.sweep()
    suites = bench.store.suites

    def folder(digest: str) -> Path | None:
        found = suites.folder(digest)
        return None if found is None else Path(found) / ENVIRONMENT

    def keep(agent: str, transcripts: Mapping[str, bytes]) -> Kept | None:
        return _kept(bench, agent, transcripts)

    files = GitSnapshotFiles(bench.home, bench.environ)
    sources = Sources(bench.environ, bench.store.snapshots.find, files)
    means = Means(suites, workspaces, sources, folder, keep, bench.environ)
    return Workshop(means), workspaces


def _kept(bench: Bench, agent: str, transcripts: Mapping[str, bytes]) -> Kept | None:
    """Read transcripts as a sync does; the first session of them that is no other's child."""
    with tempfile.TemporaryDirectory(prefix="fairtrial-transcript-") as name:
        folder = Path(name)
        _write(folder, transcripts.items())
        new = list(recognised(readers((agent,)), folder))
        troubles: list[str] = []
        outcome = syncer(bench, troubles.append).sync(new, _unheard, anew=True)
    found = bench.store.sessions.many(outcome.sessions)
    main = next((one.session for one in found if one.session.parent_id is None), None)
    if main is None:
        return None
    return Kept(main.id, bench.store.sessions.events(main.id))


def _unheard(_done: int, _of: int) -> None:
    """Take the progress of a sync that is over in a moment."""


def _write(folder: Path, files: Iterable[tuple[str, bytes]]) -> None:
    for name, data in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
