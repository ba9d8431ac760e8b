"""A workshop in a folder of its own, a repository, and an eval task of it."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, TypeVar, cast

from fairtrial.model.errors import NotFoundError
from fairtrial.model.eval_task import Command, EvalTask, RepoStart, Verifier
from fairtrial.model.isolation import Level, Wanted
from fairtrial.model.snapshot import Snapshot
from fairtrial.ports.snapshots import SnapshotFiles
from fairtrial.store.opening import open_store
from fairtrial.suites.starting import Sources
from fairtrial.suites.workshop import Kept, Means, Workshop
from fairtrial.workspaces.host.client import HostWorkspace
from fairtrial.workspaces.levels import LocalWorkspaces

T = TypeVar("T")
NOW = datetime(2026, 11, 29, tzinfo=UTC)
WANTED = Wanted(Level.NONE)
Keep = Callable[[str, Mapping[str, bytes]], Kept | None]


def keeps_nothing(_agent: str, _files: Mapping[str, bytes]) -> Kept | None:
    return None


def no_snapshot(ref: str) -> Snapshot:
    raise NotFoundError(f"there is no snapshot {ref}")


def a_repo(folder: Path) -> Path:
    """Make a repository with one file."""
    folder.mkdir()
    (folder / "a.txt").write_text("a\n")
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "x"]):
        who = ["-c", "user.name=A", "-c", "user.email=a@x"]
        subprocess.run(["git", *who, *words], cwd=folder, check=True)
    return folder


def a_task(repo: Path, **changed: Any) -> EvalTask:
    """Return a task that begins as the repository is; its verifier passes."""
    done = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=repo, check=True, capture_output=True, text=True
    )
    start = RepoStart(str(repo), done.stdout.strip())
    task = EvalTask("s", "t", "Do it", start, Verifier(Command("true", 60.0)))
    return replace(task, **changed)


@asynccontextmanager
async def workshop(
    home: Path, task: EvalTask, keep: Keep = keeps_nothing, files: Path | None = None
) -> AsyncIterator[tuple[Workshop, HostWorkspace]]:
    """Give a workshop that knows the task, and what runs its programs."""
    programs = HostWorkspace(slots=4)
    numbers = count()
    workspaces = LocalWorkspaces(home, programs, os.environ, lambda: f"p{next(numbers)}")
    sources = Sources(os.environ, no_snapshot, cast("SnapshotFiles", None))
    with open_store(home) as store:
        store.suites.load(task, "/p", "/f", NOW)
        await programs.open()
        try:
            means = Means(store.suites, workspaces, sources, lambda _: files, keep, os.environ)
            yield Workshop(means), programs
        finally:
            await programs.close()
            workspaces.close()


def worked(home: Path, task: EvalTask, work: Callable[[Workshop], Coroutine[Any, Any, T]]) -> T:
    """Return what some work in a workshop brings."""

    async def run() -> T:
        async with workshop(home, task) as (shop, _):
            return await work(shop)

    return asyncio.run(run())
