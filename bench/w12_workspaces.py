"""W12: a workspace of a trial with 2,000 files, beside `cp -a`; a program in it, beside none."""

from __future__ import annotations

import asyncio
import os
import shutil
import statistics
import subprocess
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

from bench.place import Place
from bench.table import Row

FILES = 2_000
_SIZE = 18 * 1024  # 37 MB in all


def run(place: Place) -> list[Row]:
    """Measure level bwrap where it works, else level none."""
    return asyncio.run(_measured(place))


async def _measured(place: Place) -> list[Row]:
    from fairtrial.model.isolation import Level, Wanted  # noqa: PLC0415  # keeps this process small
    from fairtrial.ports import ProcessCall  # noqa: PLC0415
    from fairtrial.workspaces.host.client import HostWorkspace  # noqa: PLC0415
    from fairtrial.workspaces.levels import LocalWorkspaces  # noqa: PLC0415

    programs = HostWorkspace(2)
    await programs.open()
    workspaces = LocalWorkspaces(
        place.folder / "store", programs, dict(os.environ), lambda: uuid.uuid4().hex[:12]
    )
    try:
        repo = await workspaces.prepare("files", _fill)
        works = {status.level for status in await workspaces.probe() if status.works}
        level = Level.BWRAP if Level.BWRAP in works else Level.NONE
        call = ProcessCall(("true",), b"", {"PATH": os.environ["PATH"]}, Path())
        outside = replace(call, cwd=place.folder)
        workspace = workspaces.workspace(repo, Wanted(level))
        made, removed, copied, ran, bare = [], [], [], [], []
        for _ in range(place.rounds + 1):  # the first warms the caches
            made.append(await _seconds(workspace.open))
            ran.append(await _seconds(lambda: workspace.run(call)))
            removed.append(await _seconds(workspace.close))
            copied.append(_copied(repo.layers[-1], place.folder / "copy"))
            bare.append(await _seconds(lambda: programs.run(outside)))
    finally:
        workspaces.close()
        await programs.close()
    most = 0.1 if level is Level.BWRAP else 2.0
    both = [one + other for one, other in zip(made, removed, strict=True)]
    return [
        Row("W12", f"{FILES:,} files, level {level}", "ms", _ms(made), _ms(copied), most),
        Row("W12", "the same and its removal", "ms", _ms(both), _ms(copied), None),
        Row("W12", f"`true` at level {level}", "ms", _ms(ran), _ms(bare), None),
    ]


async def _fill(folder: Path) -> None:
    for number in range(FILES):
        file = folder / f"d{number % 40}" / f"f{number}.txt"
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(os.urandom(_SIZE))


def _copied(source: Path, target: Path) -> float:
    started = time.perf_counter()
    subprocess.run(["cp", "-a", str(source), str(target)], check=True)
    seconds = time.perf_counter() - started
    shutil.rmtree(target)
    return seconds


async def _seconds(work: Callable[[], Awaitable[object]]) -> float:
    started = time.perf_counter()
    await work()
    return time.perf_counter() - started


def _ms(samples: list[float]) -> float:
    return statistics.median(samples[1:]) * 1e3
