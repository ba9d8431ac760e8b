"""What isolation works on this machine, and what is left of runs that were killed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

from fairtrial.model.isolation import LevelStatus
from fairtrial.workspaces.host.client import HostWorkspace
from fairtrial.workspaces.levels import LocalWorkspaces

_Found = tuple[tuple[LevelStatus, ...], tuple[str, ...]]


def look(home: Path, environ: Mapping[str, str], new_id: Callable[[], str]) -> _Found:
    """Try every level, and remove what killed runs have left.

    Args:
        home: The folder of the store.
        environ: The environment of this process.
        new_id: Gives a name that nobody else has.

    Returns:
        How each level fares, and what was removed, in words.

    Raises:
        OSError: the folder of the store cannot be written.
        Undecidable: no program can be run.
    """
    return asyncio.run(_look(home, environ, new_id))


async def _look(home: Path, environ: Mapping[str, str], new_id: Callable[[], str]) -> _Found:
    programs = HostWorkspace(slots=1)
    workspaces = LocalWorkspaces(home, programs, environ, new_id)
    await programs.open()
    try:
        swept = await asyncio.to_thread(workspaces.sweep)
        return await workspaces.probe(), swept
    finally:
        workspaces.close()
        await programs.close()
