"""What Claude Code is told of a harness when a session starts, as its version 2.1.332 does it."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from fairtrial.harness.belonging import PRIVATE
from fairtrial.harness.importing import imported_path
from fairtrial.harness.loading.folders import folders_to
from fairtrial.harness.markdown import front_matter, imports, without_comments
from fairtrial.model.harness import Harness, LoadedText

_MOST_HOPS: Final = 4
"""How many files deep an import of an import is followed."""
_FIRST: Final = ("CLAUDE.md", ".claude/CLAUDE.md")
_OWN: Final = (*_FIRST, PRIVATE)
_AGENTS: Final = ("AGENTS.md", ".claude/AGENTS.md")
_RULES: Final = ".claude/rules"
_EVERYWHERE: Final = "**"


def loaded(harness: Harness, cwd: str = "") -> tuple[LoadedText, ...]:
    """Return the texts that a session in a folder is told at its start, in their order.

    From the root down to the folder: CLAUDE.md, .claude/CLAUDE.md, the rules that are about all
    files, CLAUDE.local.md; each with what it imports behind it, once in all, and only from within
    the folder of the session. Where none of these instructions is there, AGENTS.md and
    .claude/AGENTS.md stand for them. Rules of one folder come in the order of the file system
    there; here in the order of their paths.

    What lies outside of the repository is not known here: instructions in folders around it would
    keep AGENTS.md out, too. Nor does a harness know of line ends with a carriage return, which
    Claude Code keeps.

    Args:
        harness: The files.
        cwd: The folder of the session, from the root of the repository.

    Raises:
        UsageError: the folder is outside of the repository.
    """
    folders = folders_to(cwd)
    loading = _Loading(harness, folders[-1])
    own = [posixpath.join(folder, name) for folder in folders for name in _OWN]
    agents = not any(told(harness.files.get(path, "")) for path in own)
    for folder in folders:
        for name in () if agents else _FIRST:
            loading.take(posixpath.join(folder, name))
        for path in _rules(harness, posixpath.join(folder, _RULES, "")):
            loading.take(path)
        for name in _AGENTS if agents else ():
            loading.take(posixpath.join(folder, name))
        loading.take(posixpath.join(folder, PRIVATE), private=True)
    return tuple(loading.found)


def told(text: str) -> str:
    """Return what is told of a file: without front matter, comment blocks and blank ends."""
    return without_comments(front_matter(text)[1]).strip()


def told_later(harness: Harness, path: str, cwd: str = "") -> str | None:
    """Return what a session is told of a file when it touches what the file is about.

    None when it is told nothing then: the file is not in the harness, is blank, or was told of at
    the start.

    Args:
        harness: The files.
        path: The file: a rule with `paths`, or instructions below the folder of the session.
        cwd: The folder of the session, from the root of the repository.

    Raises:
        UsageError: the folder is outside of the repository.
    """
    text = harness.files.get(path)
    if text is None or any(one.path == path for one in loaded(harness, cwd)):
        return None
    plain = without_comments(front_matter(text)[1])
    return plain if plain.strip() else None


def _rules(harness: Harness, start: str) -> Iterator[str]:
    for path, text in harness.files.items():
        if path.startswith(start) and path.endswith(".md"):
            paths = front_matter(text)[0].get("paths")
            if is_about_all(paths):
                yield path


def is_about_all(paths: Any) -> bool:
    """Return whether a rule with these `paths` is told at the start, whatever is worked on."""
    given = paths if isinstance(paths, list) else [paths]
    texts = [text.strip() for one in given if isinstance(one, str) for text in one.split(",")]
    return all(text == _EVERYWHERE for text in texts if text)


@dataclass
class _Loading:
    harness: Harness
    cwd: str
    found: list[LoadedText] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)

    def take(self, path: str, *, private: bool = False, hops: int = 0) -> None:
        """Take a file and what it imports, unless its text was taken already."""
        text = self.harness.files.get(path)
        same = self.harness.links.get(path, path)
        if text is None or not self._seen.isdisjoint((path, same)):
            return
        self._seen |= {path, same}
        plain = told(text)
        if plain:
            self.found.append(LoadedText(path, plain, private))
        if hops < _MOST_HOPS:
            for written in imports(front_matter(text)[1]):
                found = imported_path(path, written)
                if found is not None and self._is_within(found):
                    self.take(found, private=private, hops=hops + 1)

    def _is_within(self, path: str) -> bool:
        # The agent asks the user before it imports from anywhere else, and headless it does not.
        return not self.cwd or path.startswith(f"{self.cwd}/")
