"""What a run of `--watch` depends on: the content of its files, by what a change of them means."""

from __future__ import annotations

import contextlib
import hashlib
import shlex
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fairtrial.app.bench import Bench
from fairtrial.app.planning import base_dir
from fairtrial.app.requests.exp_run import Request
from fairtrial.app.spec_files import SUFFIXES, read_document
from fairtrial.graders.scripts import own_file
from fairtrial.model.errors import FairtrialError, UsageError
from fairtrial.model.json import content_hash

_LARGEST = 16 * 1024 * 1024
"""Bytes of a file whose content is looked at; of a larger one only its size and time."""
_IGNORED = {".git", ".venv", "node_modules", "__pycache__"}
_MOST_FILES = 10_000


@dataclass(frozen=True, slots=True)
class Content:
    """What a request would run, by content.

    Attributes:
        task: A hash of all options but the graders.
        graders: A hash of the graders' options.
        task_files: The files whose change makes another run needed, each with a hash.
        grader_files: The files whose change makes only another grading needed, each with a hash.
        folders: Where a change can be noticed.
    """

    task: str
    graders: str
    task_files: Mapping[Path, str]
    grader_files: Mapping[Path, str]
    folders: frozenset[Path]

    def changed_files(self, before: Content) -> frozenset[Path]:
        """Return the files of before whose content is another now, or that are gone."""
        now = {**self.task_files, **self.grader_files}
        then = {**before.task_files, **before.grader_files}
        return frozenset(path for path, digest in then.items() if now.get(path) != digest)

    def other_task(self, before: Content, ignored: AbstractSet[Path]) -> bool:
        """Return whether another run is needed, whatever the ignored files hold."""
        files = (_but(content.task_files, ignored) for content in (self, before))
        return self.task != before.task or len({tuple(sorted(one.items())) for one in files}) > 1

    def other_graders(self, before: Content, ignored: AbstractSet[Path]) -> bool:
        """Return whether another grading is needed, whatever the ignored files hold."""
        files = (_but(content.grader_files, ignored) for content in (self, before))
        same = len({tuple(sorted(one.items())) for one in files}) == 1
        return self.graders != before.graders or not same


def _but(files: Mapping[Path, str], ignored: AbstractSet[Path]) -> dict[Path, str]:
    return {path: digest for path, digest in files.items() if path not in ignored}


def content_of(bench: Bench, request: Request) -> Content:
    """Return what a request would run, by the content of its options and files.

    Raises:
        UsageError: a pattern of `--watch-path` is none.
    """
    folder = base_dir(bench, request)
    told = _plain(asdict(request))
    told.pop("spec")  # its content is in the request
    graders = told.pop("graders")
    task_files = {*_files(told, folder, bench.cwd), *_matching(request, folder)}
    grader_files = set(_files(graders, folder, bench.cwd)) - task_files
    spec = set() if request.spec is None else {request.spec.parent}
    places = {*(path.parent for path in task_files | grader_files), *spec}
    places |= set(_below(request, folder))
    return Content(
        content_hash(told),
        content_hash(graders),
        _digests(task_files),
        _digests(grader_files),
        frozenset(place for place in places if place.is_dir()),
    )


def _plain(value: Any) -> Any:
    """Return a value as JSON."""
    if isinstance(value, Mapping):
        return {str(name): _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return str(value) if isinstance(value, Path) else value


def _files(value: Any, folder: Path, cwd: Path, depth: int = 2) -> Iterator[Path]:
    """Yield the files that a value names, and those that its JSON or YAML files name."""
    if isinstance(value, Mapping):
        own = own_file(value, folder)
        if own is not None:
            yield own
        start = folder / str(value.get("cwd") or "")
        for entry in value.values():
            yield from _files(entry, start, cwd, depth)
    elif isinstance(value, list):
        for entry in value:
            yield from _files(entry, folder, cwd, depth)
    elif isinstance(value, str):
        for path in _named(value, (folder, cwd)):
            yield path
            if depth and path.suffix in SUFFIXES and path.stat().st_size < _LARGEST:
                yield from _within(path, cwd, depth - 1)


def _within(path: Path, cwd: Path, depth: int) -> Iterator[Path]:
    try:
        document = read_document(path)
    except (FairtrialError, OSError):  # half written; the run says so
        return
    yield from _files(_plain(document), path.parent, cwd, depth)


def _named(text: str, folders: tuple[Path, ...]) -> Iterator[Path]:
    """Yield the files that a text names: all of it, what follows `=`, or a word of a command."""
    if len(text) > 4_096 or "\n" in text:
        return
    words = {text, text.partition("=")[2]}
    with contextlib.suppress(ValueError):  # no command
        words |= set(shlex.split(text))
    for word in sorted(words - {""}):
        for folder in folders:
            path = folder / word
            try:
                if path.is_file():
                    yield path.resolve()
                    break
            except (OSError, ValueError):  # no path at all
                continue


def _matching(request: Request, folder: Path) -> set[Path]:
    found: set[Path] = set()
    for pattern in request.watching.watch:
        root = _root(pattern, folder)
        try:
            for path in root.glob(str((folder / pattern).relative_to(root))):
                if path.is_file() and not _IGNORED.intersection(path.parts):
                    found.add(path.resolve())
                if len(found) > _MOST_FILES:
                    break
        except (IndexError, NotImplementedError, ValueError):
            raise UsageError(
                f"{pattern!r} is no pattern of files",
                where="--watch-path",
                fix="write one like 'prompts/**/*.md'",
            ) from None
    return found


def _root(pattern: str, folder: Path) -> Path:
    """Return the folder that a pattern starts at: what stands before its first wildcard."""
    plain = Path(folder)
    for part in Path(pattern).parts[:-1]:
        if any(sign in part for sign in "*?["):
            break
        plain /= part
    return plain


def _below(request: Request, folder: Path) -> Iterator[Path]:
    """Yield the folders in which a pattern may match a new file."""
    for pattern in request.watching.watch:
        root = _root(pattern, folder)
        yield root
        if "**" not in pattern:
            continue
        for number, place in enumerate(root.rglob("*/")):
            if number > _MOST_FILES:
                break
            if not _IGNORED.intersection(place.parts):
                yield place


def _digests(files: AbstractSet[Path]) -> dict[Path, str]:
    return {path: _digest(path) for path in sorted(files)}


def _digest(path: Path) -> str:
    try:
        about = path.stat()
        if about.st_size > _LARGEST:
            return f"{about.st_size} {about.st_mtime_ns}"
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:  # gone meanwhile
        return str(error.errno)
