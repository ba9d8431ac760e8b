"""What differs between two harnesses: changed paths, counted lines, and a unified diff."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from fairtrial.model.harness import Harness

_CONTEXT: Final = 3


class Kind(StrEnum):
    """What happened to a file."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    RENAMED = "renamed"
    """The same text at another path."""


@dataclass(frozen=True, slots=True)
class Change:
    """One file that is not the same in both.

    Attributes:
        kind: What happened to it.
        path: Its path in B, or in A when it was removed.
        old_path: Its path in A, when it was renamed.
        added: Lines that are in B alone.
        removed: Lines that are in A alone.
    """

    kind: Kind
    path: str
    old_path: str | None
    added: int
    removed: int


def changes(a: Harness, b: Harness) -> list[Change]:
    """Return what differs, in the order of the paths.

    What both have as a link to a file that differs is not told a second time.
    """
    renamed = _renamed(a, b)
    found = [Change(Kind.RENAMED, new, old, 0, 0) for new, old in renamed.items()]
    passed_over = {*renamed, *renamed.values(), *_linked(a, b)}
    for path in {*a.files, *b.files} - passed_over:
        before, after = a.files.get(path), b.files.get(path)
        if before == after:
            continue
        kind = Kind.ADDED if before is None else Kind.REMOVED if after is None else Kind.CHANGED
        lines = list(_hunks(before, after))
        added = sum(line.startswith("+") for line in lines)
        removed = sum(line.startswith("-") for line in lines)
        found.append(Change(kind, path, None, added, removed))
    return sorted(found, key=lambda change: change.path)


def unified_diff(a: Harness, b: Harness) -> str:
    """Return the differences as git would show them, `a/PATH` and `b/PATH` before each file."""
    found: list[str] = []
    for change in changes(a, b):
        old, new = f"a/{change.old_path or change.path}", f"b/{change.path}"
        if change.kind is Kind.RENAMED:
            found += [f"rename {_quoted(old)} => {_quoted(new)}\n"]
            continue
        before, after = a.files.get(change.path), b.files.get(change.path)
        found.append(f"--- {'/dev/null' if before is None else _quoted(old)}\n")
        found.append(f"+++ {'/dev/null' if after is None else _quoted(new)}\n")
        found += _hunks(before, after)
    return "".join(found)


def _linked(a: Harness, b: Harness) -> set[str]:
    same = {path for path, target in a.links.items() if b.links.get(path) == target}
    return {path for path in same if a.links[path] in a.files and a.links[path] in b.files}


def _renamed(a: Harness, b: Harness) -> dict[str, str]:
    """Return the new paths of files that have the same text at another, and their old ones."""
    gone: dict[str, list[str]] = {}
    for path, text in a.files.items():
        if path not in b.files and text.strip():
            gone.setdefault(text, []).append(path)
    found = {}
    for path, text in b.files.items():
        if path not in a.files and gone.get(text):
            found[path] = gone[text].pop(0)
    return found


def _hunks(before: str | None, after: str | None) -> Iterator[str]:
    lines = difflib.unified_diff(_lines(before), _lines(after), n=_CONTEXT)
    for number, line in enumerate(lines):
        if number < 2:  # the names of the files
            continue
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _lines(text: str | None) -> Sequence[str]:
    """Return lines with their ends; only a line feed ends one."""
    pieces = (text or "").split("\n")
    ended = [f"{piece}\n" for piece in pieces[:-1]]
    return ended + ([pieces[-1]] if pieces[-1] else [])


def _quoted(path: str) -> str:
    """Return a path that stays in its line."""
    plain = path.isprintable() and '"' not in path and "\\" not in path
    return path if plain else '"' + "".join(_escaped(path)) + '"'


def _escaped(path: str) -> Iterable[str]:
    for letter in path:
        if letter in '"\\':
            yield f"\\{letter}"
        elif letter.isprintable():
            yield letter
        else:
            yield "".join(f"\\{byte:03o}" for byte in letter.encode("utf-8", "surrogateescape"))
