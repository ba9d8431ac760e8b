"""Which tool wrote a file or folder, told by what is in it."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from fairtrial.interchange.results.contract import Asked, Notes, Probe, Reader, Reading
from fairtrial.interchange.results.files import LARGEST_WHOLE, content, head_of
from fairtrial.interchange.results.json_values import Unreadable, parts_of, value_of
from fairtrial.model.errors import FairtrialError, NotFoundError, UsageError
from fairtrial.model.json import Json

_MODULE: Final = "fairtrial.interchange.results."
TOOLS: Final = (
    *("harbor", "inspect", "promptfoo", "junit", "openai_evals", "swe_bench"),
    *("jsonl", "table"),
)
"""Modules of readers; the one that asks for most comes first."""
IN_PARTS: Final = frozenset({"junit"})
"""What writes one run in many files."""
_HEAD: Final = 65_536
_SMALL: Final = 300
"""Bytes of a value that is worth a look."""
_DEEPEST: Final = 6
_SKIPPED: Final = ("node_modules", "__pycache__")


@dataclass(frozen=True, slots=True)
class Recognised:
    """A file or folder, and who reads it."""

    path: Path
    reader: Reader

    @property
    def tool(self) -> str:
        """What its tool is called."""
        return self.reader.TOOL

    def read(self, asked: Asked, notes: Notes) -> Reading:
        """Return its results.

        Raises:
            UsageError: it cannot be read.
        """
        return self.reader.read(self.path, asked, notes)


def readers() -> tuple[Reader, ...]:
    """Return all readers."""
    found: tuple[Reader, ...] = tuple(importlib.import_module(_MODULE + name) for name in TOOLS)
    return found


def recognise(path: Path, asked: Asked) -> list[Recognised]:
    """Return what a file holds, or what is under a folder: one for each run.

    Raises:
        NotFoundError: there is nothing, or no results in the folder.
        UsageError: no tool's results are in it.
    """
    known = readers()
    _check(path)
    found = _recognised(path, asked, known)
    if found is not None:
        return [found]
    if path.is_dir():
        below = _together(path, list(_below(path, asked, known, 0)))
        if not below:
            raise NotFoundError(
                "no results were recognised under this folder",
                where=str(path),
                fix="name a file of results; `fairtrial push --help` says of which tools",
            )
        return below
    raise UsageError(
        "nothing in this file looks like results of a tool that is known",
        where=str(path),
        why=_what(path),
        fix="see `fairtrial push --help` for the tools; plain rows (.jsonl, .csv) need `input` or "
        "`id`, and a score, `passed` or `error`; other names go with --column ROLE=NAME",
    )


def _check(path: Path) -> None:
    """Refuse what is not there, or cannot be looked into."""
    try:
        if path.is_dir():
            with os.scandir(path):
                return
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise NotFoundError("there is no such file or folder", where=str(path)) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError("it cannot be read", where=str(path)[:300], why=reason) from None


def _together(folder: Path, found: list[Recognised]) -> list[Recognised]:
    """Return the same with all files that a tool writes for one run as one."""
    parts = [one for one in found if one.tool in IN_PARTS]
    if len(parts) < 2:
        return found
    # What reads the folder leaves out what is another tool's.
    whole = [one for one in found if one.tool not in IN_PARTS]
    return [*whole, Recognised(folder, parts[0].reader)]


def _below(
    folder: Path, asked: Asked, known: tuple[Reader, ...], depth: int
) -> Iterator[Recognised]:
    """Yield what is under a folder; links to folders are not followed."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name in _SKIPPED:
            continue
        is_folder = path.is_dir()
        if is_folder and path.is_symlink():
            continue
        try:
            _check(path)
            found = _recognised(path, asked, known)
        except FairtrialError:
            continue  # what nobody named and nobody can read
        if found is not None:
            yield found
        elif is_folder and depth < _DEEPEST:
            yield from _below(path, asked, known, depth + 1)


def _recognised(path: Path, asked: Asked, known: tuple[Reader, ...]) -> Recognised | None:
    probe = probe_of(path)
    for reader in known:
        if reader.recognises(probe, asked):
            return Recognised(path, reader)
    return None


def probe_of(path: Path) -> Probe:
    """Return what a file or folder shows of itself.

    Raises:
        NotFoundError: there is nothing.
        UsageError: it cannot be read.
    """
    if path.is_dir():
        return Probe(path, "", {}, is_folder=True)
    head = head_of(path, _HEAD)
    return Probe(path, head.decode("utf-8", "replace"), _keys(path, head), is_folder=False)


def _keys(path: Path, head: bytes) -> Mapping[str, Json]:
    """Return the keys of the first object of a JSON file, with their values where these are short.

    The object is the file, its first line, or the first item of an array.
    """
    text = head.lstrip()
    if text[:1] not in (b"{", b"["):
        return {}
    line, ends, _ = text.partition(b"\n")
    try:
        first: msgspec.Raw | bytes = line
        if text[:1] == b"[" or not ends or not line.rstrip().endswith(b"}"):
            first = _whole(path)
        return _members(first)
    except Unreadable:
        pass
    try:  # a first line that only looked like an object
        return _members(_whole(path))
    except Unreadable:
        return {}


def _whole(path: Path) -> msgspec.Raw | bytes:
    if path.stat().st_size > LARGEST_WHOLE:
        raise Unreadable("it is too large")
    data = content(path)
    if bytes(data[:64]).lstrip()[:1] == b"[":
        items = parts_of(data, list[msgspec.Raw], Notes())
        return items[0] if items else b"{}"
    found: bytes = data
    return found


def _members(data: msgspec.Raw | bytes) -> Mapping[str, Json]:
    members = parts_of(data, dict[str, msgspec.Raw], Notes())
    found: dict[str, Json] = {}
    for name, raw in members.items():
        short = len(memoryview(raw)) <= _SMALL
        found[name] = value_of(raw, Notes()) if short else None
    return found


def _what(path: Path) -> str | None:
    probe = probe_of(path)
    if probe.keys:
        shown = ", ".join(repr(name[:40]) for name in list(probe.keys)[:12])
        return f"its first object has the keys {shown}"
    line = probe.head.strip().split("\n", 1)[0]
    return f"it begins with {line[:80]!r}" if line else "it is empty"
