"""The git status that Claude Code records when a session begins."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_SECTION: Final = re.compile(
    r"^Status:\n(?P<status>.*?)(?:\n\nRecent commits:(?P<log>.*))?\Z", re.DOTALL | re.MULTILINE
)
_CLEAN: Final = "(clean)"
_CUT: Final = "truncated because it exceeds"
_LINE: Final = re.compile(r"(?P<index>[ MADRCUT?!])(?P<tree>[ MADRCUT?!]) (?P<path>.+)")
_FIRST: Final = re.compile(r"[MADRCUT] [^ ]")
_COMMIT: Final = re.compile(r"[0-9a-f]{7,64}\b")
_ESCAPE: Final = re.compile(r"\\([0-7]{3}|.)", re.DOTALL)
_LETTERS: Final = {
    "n": b"\n",
    "t": b"\t",
    "r": b"\r",
    "a": b"\a",
    "b": b"\b",
    "v": b"\v",
    "f": b"\f",
}


@dataclass(frozen=True, slots=True)
class Listed:
    """A file that differed from the commit.

    Attributes:
        path: As git printed it: relative to the folder that it was run in; a folder ends in `/`.
        is_deleted: It was not there.
        is_untracked: Git did not know it.
    """

    path: str
    is_deleted: bool = False
    is_untracked: bool = False


@dataclass(frozen=True, slots=True)
class Status:
    """What differed from the commit when the session began.

    Attributes:
        files: The files.
        is_whole: Whether they are all; a long list was cut.
        has_commits: Whether there was a commit.
    """

    files: tuple[Listed, ...]
    is_whole: bool
    has_commits: bool


def status_of(text: str) -> Status | None:
    """Return what a recorded status says; None when it is not understood."""
    found = _SECTION.search(text)
    if found is None:
        return None
    body, log = found["status"], found["log"] or ""
    lines = [line for line in body.split("\n") if line.strip()]
    if lines == [_CLEAN]:
        lines = []
    is_whole = not any(_CUT in line for line in lines)
    if not is_whole:  # the last line before the mark may be cut, too
        cut = next(place for place, line in enumerate(lines) if _CUT in line)
        lines = lines[: max(0, cut - 1)]
    if lines and _FIRST.match(lines[0]):
        lines[0] = f" {lines[0]}"  # the blanks around the whole text were taken off
    files: list[Listed] = []
    for line in lines:
        parsed = _LINE.fullmatch(line.rstrip("\r"))
        if parsed is None:
            is_whole = False
        else:
            files += _listed(parsed["index"], parsed["tree"], parsed["path"])
    return Status(tuple(files), is_whole, _COMMIT.match(log.lstrip()) is not None)


def _listed(index: str, tree: str, path: str) -> Iterator[Listed]:
    if index == "!":
        return
    if index == "?":
        yield Listed(_unquoted(path), is_untracked=True)
        return
    if index in "RC" or tree in "RC":
        old, arrow, new = _renamed(path)
        if arrow:
            if index == "R" or tree == "R":
                yield Listed(_unquoted(old), is_deleted=True)
            path = new
    yield Listed(_unquoted(path), is_deleted=tree == "D" or (index == "D" and tree == " "))


def _renamed(path: str) -> tuple[str, str, str]:
    if path.startswith('"'):
        end = re.match(r'"(?:[^"\\]|\\.)*"', path)
        if end is not None and path[end.end() :].startswith(" -> "):
            return end[0], " -> ", path[end.end() + 4 :]
    return path.partition(" -> ")


def _unquoted(path: str) -> str:
    """Return a path without the quotes and escapes that git gives to odd names."""
    if not (len(path) > 1 and path.startswith('"') and path.endswith('"')):
        return path
    found = bytearray()
    start = 0
    inner = path[1:-1]
    for escape in _ESCAPE.finditer(inner):
        found += inner[start : escape.start()].encode(errors="surrogateescape")
        told = escape[1]
        octal = len(told) == 3
        found += bytes([int(told, 8) & 255]) if octal else _LETTERS.get(told, told.encode())
        start = escape.end()
    found += inner[start:].encode(errors="surrogateescape")
    return found.decode(errors="surrogateescape")
