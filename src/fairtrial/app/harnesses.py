"""Harnesses as verbs read them."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

from fairtrial.app.bench import Bench
from fairtrial.harness.sources import Place, read_harness
from fairtrial.model.errors import UsageError
from fairtrial.model.harness import Harness


def place_of(bench: Bench) -> Place:
    """Return where harnesses are read."""
    return Place(bench.cwd, bench.environ)


def harness_of(bench: Bench, source: str | None) -> Harness:
    """Return a harness by what was given; the repository's current one without that.

    Raises:
        UsageError: it is no harness, too large, or there is no repository.
        NotFoundError: there is no such file or commit.
        FairtrialError: it cannot be read.
    """
    place = place_of(bench)
    return place.current().harness if source is None else read_harness(source, place)


def folder_in(bench: Bench, given: Path | None) -> str:
    """Return a folder from the root of the repository; empty for the root.

    Without a repository a given folder is from the root of whatever is looked at.

    Raises:
        UsageError: it is outside of the repository.
    """
    root = place_of(bench).root
    if root is None:
        return "" if given is None else _plain(PurePosixPath(given.as_posix()))
    folder = bench.cwd if given is None else bench.path(given)
    real, top = Path(os.path.realpath(folder)), Path(os.path.realpath(root))
    if not real.is_relative_to(top):
        raise UsageError(
            f"{given} is outside of the repository", where=str(root), fix="name a folder within it"
        )
    return _plain(PurePosixPath(real.relative_to(top).as_posix()))


def _plain(path: PurePosixPath) -> str:
    return "" if path == PurePosixPath() else str(path)
