"""Prepared files as one plain folder, whatever layers they are kept in."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from fairtrial.model.errors import Undecidable
from fairtrial.model.isolation import Level, Wanted
from fairtrial.ports import PreparedRepo
from fairtrial.workspaces.copying import copy_tree
from fairtrial.workspaces.places import Places
from fairtrial.workspaces.trial_files import Means


async def copy_of(means: Means, repo: PreparedRepo, target: Path) -> str:
    """Copy the files of a repo into a new folder; return how it was done.

    Raises:
        OSError: they could not be copied.
        Undecidable: their layers could not be laid on one another.
    """
    if len(repo.layers) == 1:
        return await asyncio.to_thread(copy_tree, repo.layers[0], target)
    from fairtrial.workspaces.bwrap.files import BwrapFiles  # noqa: PLC0415  # it needs this too

    await asyncio.to_thread(target.mkdir)
    async with BwrapFiles(means, repo, Wanted(level=Level.BWRAP)) as laid:
        done = await laid.copy_out(target)
    if done.usage.exit_status != 0:
        raise Undecidable(f"the layers could not be copied: {done.usage.stderr_tail.strip()}")
    return "a copy of an overlay by cp"


async def copied_layer(places: Places, repo: PreparedRepo, files: Path) -> PreparedRepo:
    """Return a copy of a folder as a new repo with the same base.

    Raises:
        Undecidable: it could not be copied.
    """
    place = places.new()
    layer = place / "files"
    try:
        layer.mkdir()
        await asyncio.to_thread(copy_tree, files, layer)
    except OSError as problem:
        raise Undecidable(f"the workspace could not be copied: {problem}") from problem
    return replace(repo, key=f"{repo.key}+{places.name_of(place)}", layers=(layer,))
