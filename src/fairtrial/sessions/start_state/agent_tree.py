"""The tree of all files that OpenCode keeps, in an object store of its own, before each step."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Final

from fairtrial.model.session import Session
from fairtrial.workspaces.reading_git import Git

_HASH: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_FOLDER: Final = "snapshot"
_MOST: Final = 2_000


def agent_tree(session: Session, environ: Mapping[str, str]) -> Git | None:
    """Return the object store that holds the tree that a session began with.

    None when the agent keeps none, or when it is not there any more.

    Raises:
        NotFoundError: there is no git.
    """
    tree = session.start_tree
    if tree is None or not session.files or not _HASH.fullmatch(tree):
        return None
    data = Path(session.files[0].partition("#")[0]).parent
    for folder in islice(_stores(data / _FOLDER), _MOST):
        git = Git(folder, environ)
        if git.line("cat-file", "-t", tree) == "tree":
            return git
    return None


def _stores(folder: Path) -> Iterator[Path]:
    """Yield the object stores: one for each project, or for each folder of one."""
    try:
        for project in sorted(folder.iterdir()):
            places = [project, *sorted(project.iterdir())] if project.is_dir() else []
            yield from (place for place in places if (place / "objects").is_dir())
    except OSError:
        return
