"""Where an `@path` in instructions leads: as Claude Code follows it."""

from __future__ import annotations

import posixpath
from pathlib import PurePosixPath
from typing import Final

_TEXT: Final = (
    "adoc asciidoc astro bash bat c cc cfg cjs clj cljc cljs cmake cmd conf config cpp cs css csv "
    "cts cxx dart diff edn ejs elm env erb erl ex exs f f90 f95 fish for go gql gradle graphql h "
    "hbs hpp hrl hs htm html hxx ini jade java js json jsx kt kts latex less lhs lock log lua make "
    "makefile md mjs ml mli mts org patch php pl pm properties proto ps1 pug py pyi pyw r rake rb "
    "rs rst sass sbt scala scss sh sql svelte swift tex text toml ts tsx txt vue xml yaml yml zsh"
)
_TEXT_ENDINGS: Final = frozenset(_TEXT.split())
"""Endings of files that are imported; a name without an ending is, too."""


def imported_path(importer: str, written: str) -> str | None:
    """Return the path from the root of the repository that an import leads to.

    Args:
        importer: The path of the file that imports.
        written: What stands after the `@`.

    Returns:
        None for what leads out of the repository, and for what is not imported for its ending.
        An absolute path is the agent's machine's own and leads out of it, too.
    """
    if written.startswith(("/", "~")) or "\0" in written:
        return None
    path = posixpath.normpath(posixpath.join(posixpath.dirname(importer), written))
    ending = PurePosixPath(path).suffix.removeprefix(".").lower()
    if path in {".", ".."} or path.startswith("../"):
        return None
    return path if not ending or ending in _TEXT_ENDINGS else None
