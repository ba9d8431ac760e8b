"""What lies in a working tree: which files a snapshot has to read, and which it leaves out."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from fairtrial.model.snapshot import LeftOut, LeftOutReason
from fairtrial.workspaces.snapshots.git_program import Git
from fairtrial.workspaces.snapshots.private_folder import user_file
from fairtrial.workspaces.snapshots.repository import Repository

_ATTRIBUTES: Final = ("text", "eol", "crlf", "filter", "ident", "working-tree-encoding")
_BY_SIZE: Final = ("text", "eol", "crlf", "ident")
"""Attributes whose conversions change the size of a file whenever they change it at all."""
_OFF: Final = frozenset({"unspecified", "unset"})
_POINTER_BYTES: Final = 1024
"""The size that a pointer of git LFS stays below."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of what git does not know yet is taken into a snapshot.

    Attributes:
        file_bytes: The largest file.
        bytes: All of them together.
        files: How many.
    """

    file_bytes: int = 20 * 1024 * 1024
    bytes: int = 200 * 1024 * 1024
    files: int = 50_000


@dataclass
class Work:
    """What is to be done so that a copy of the index holds the working tree.

    Attributes:
        read: Files to read, as git writes their paths.
        drop: Entries to take out first: they would pass for unchanged, but their content in the
            repository is another than that on the disk.
        left_out: What stays out of the snapshot.
        conflicts: Whether the index holds both sides of a conflict.
    """

    read: list[bytes] = field(default_factory=list)
    drop: list[bytes] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    conflicts: bool = False


@dataclass
class _Listing:
    tracked: list[bytes] = field(default_factory=list)
    blobs: dict[bytes, bytes] = field(default_factory=dict)
    changed: set[bytes] = field(default_factory=set)
    untracked: list[bytes] = field(default_factory=list)
    absent: list[bytes] = field(default_factory=list)
    submodules: list[bytes] = field(default_factory=list)
    conflicts: bool = False


def look(
    git: Git,
    repository: Repository,
    variables: Mapping[str, str],
    environ: Mapping[str, str],
    limits: Limits,
) -> Work:
    """Return what a snapshot has to read.

    Args:
        git: Git.
        repository: The user's.
        variables: What `private_folder` yielded.
        environ: The environment of this process.
        limits: How much is taken.

    Raises:
        GitError: git failed.
    """
    listing = _list(git, repository, variables)
    work = Work(conflicts=listing.conflicts)
    converted, lfs = _converted(git, repository, variables, environ, listing)
    root = os.fsencode(repository.root)
    _leave_lfs(work, root, [path for path in lfs if path not in listing.changed])
    for path in (*converted, *sorted(listing.changed)):
        if _may_read(work, root, path):
            work.read.append(path)
    reads = set(work.read)
    work.drop += [path for path in converted if path in reads]
    work.drop += listing.absent
    for path in listing.submodules:
        work.left_out.append(LeftOut(LeftOutReason.SUBMODULE, os.fsdecode(path)))
    _add_untracked(work, root, listing.untracked, limits)
    return work


def _list(git: Git, repository: Repository, variables: Mapping[str, str]) -> _Listing:
    """Ask git for all files at once: one line for each state that a path is in."""
    words = ["ls-files", "-z", "-t", "-s", "-c", "-o", "-m", "-d", "--exclude-standard"]
    answer = git.run(words, cwd=repository.root, env=variables)
    sparse = repository.settings.get("sparsecheckout", "false") == "true"
    listing = _Listing()
    for entry in answer.out.split(b"\0")[:-1]:
        tag, rest = entry[:1], entry[2:]
        if tag == b"?":
            listing.untracked.append(rest)
            continue
        facts, _, path = rest.partition(b"\t")
        mode, blob, stage = facts.split(b" ")
        if stage != b"0":
            listing.conflicts = True
            listing.changed.add(path)
        elif mode == b"160000":
            if tag in (b"H", b"S"):
                listing.submodules.append(path)
            else:
                listing.changed.add(path)
        elif tag == b"S":
            (listing.absent if sparse else listing.tracked).append(path)
        elif tag == b"H":
            listing.tracked.append(path)
            listing.blobs[path] = blob
        else:
            listing.changed.add(path)
    return listing


def _converted(
    git: Git,
    repository: Repository,
    variables: Mapping[str, str],
    environ: Mapping[str, str],
    listing: _Listing,
) -> tuple[list[bytes], list[bytes]]:
    """Return the unchanged files that git may keep in another form, and all that LFS keeps."""
    by_default = repository.settings.get("autocrlf", "false") in ("true", "input")
    names = (*listing.tracked, *listing.untracked, *listing.changed)
    anywhere = (
        any(name.endswith(b".gitattributes") for name in names)
        or user_file(repository, "attributes", environ) is not None
        or (Path(variables["GIT_DIR"]) / "info" / "attributes").exists()
        or Path("/etc/gitattributes").exists()
    )
    unchanged = [path for path in listing.tracked if path not in listing.changed]
    by_size: list[bytes] = []
    always: list[bytes] = []
    lfs: list[bytes] = []
    if not anywhere:
        by_size = unchanged if by_default else []
    else:
        answer = git.run(
            ["check-attr", "-z", "--stdin", *_ATTRIBUTES],
            cwd=repository.root,
            env=variables,
            stdin=b"".join(path + b"\0" for path in sorted({*listing.tracked, *listing.changed})),
        )
        for path, values in _attributes(answer.out):
            if values["filter"] == "lfs":
                lfs.append(path)
            elif path in listing.changed:
                continue
            elif any(values[name] not in _OFF for name in _ATTRIBUTES if name not in _BY_SIZE):
                always.append(path)
            elif _may_convert(values, by_default=by_default):
                by_size.append(path)
    return [*always, *_of_another_size(git, repository, variables, listing, by_size)], lfs


def _of_another_size(
    git: Git,
    repository: Repository,
    variables: Mapping[str, str],
    listing: _Listing,
    paths: list[bytes],
) -> list[bytes]:
    """Return the files whose size on the disk is not that of their content in the repository.

    Most files are stored as they are, and reading all of a large repository would take too long.
    """
    if not paths:
        return []
    answer = git.run(
        ["cat-file", "--batch-check=%(objectsize)", "--buffer"],
        cwd=repository.root,
        env=variables,
        stdin=b"".join(listing.blobs.get(path, b"-") + b"\n" for path in paths),
    )
    root = os.fsencode(repository.root)
    sizes = answer.out.split(b"\n")[:-1]
    return [
        path
        for path, size in zip(paths, sizes, strict=True)
        if (found := _status(root, path)) is not None and size != b"%d" % found.st_size
    ]


def _attributes(out: bytes) -> Iterator[tuple[bytes, dict[str, str]]]:
    parts = out.split(b"\0")[:-1]
    width = 3 * len(_ATTRIBUTES)
    for start in range(0, len(parts), width):
        group = parts[start : start + width]
        names = [name.decode() for name in group[1::3]]
        yield group[0], dict(zip(names, [os.fsdecode(v) for v in group[2::3]], strict=True))


def _may_convert(values: Mapping[str, str], *, by_default: bool) -> bool:
    if any(values[name] not in _OFF for name in _BY_SIZE):
        return True
    return by_default and values["text"] != "unset"


def _leave_lfs(work: Work, root: bytes, paths: list[bytes]) -> None:
    sizes = [found.st_size for path in paths if (found := _status(root, path)) is not None]
    large = [size for size in sizes if size > _POINTER_BYTES]
    if large:
        work.left_out.append(LeftOut(LeftOutReason.LFS, files=len(large), bytes=sum(large)))


def _may_read(work: Work, root: bytes, path: bytes) -> bool:
    """Return whether git could read a path; what is not there any more is taken out of the index.

    Else the entry stays as it is in the index, and it is said.
    """
    found = _status(root, path)
    if found is None or stat.S_ISLNK(found.st_mode):
        return True
    name = os.fsdecode(path)
    if stat.S_ISDIR(found.st_mode):
        # A submodule, or a folder where a file was; git knows what to do with either.
        return True
    if not stat.S_ISREG(found.st_mode):
        work.left_out.append(LeftOut(LeftOutReason.SPECIAL, name))
        return False
    if not os.access(os.path.join(root, path), os.R_OK):  # noqa: PTH118  # bytes
        work.left_out.append(LeftOut(LeftOutReason.UNREADABLE, name, bytes=found.st_size))
        return False
    return True


def _add_untracked(work: Work, root: bytes, paths: list[bytes], limits: Limits) -> None:
    taken = files = 0
    beyond_files = beyond_bytes = 0
    for path in paths:
        if path.endswith(b"/"):
            work.left_out.append(LeftOut(LeftOutReason.SUBMODULE, os.fsdecode(path)))
            continue
        found = _status(root, path)
        if found is None or not _may_read(work, root, path):
            continue
        if found.st_size > limits.file_bytes:
            large = LeftOut(LeftOutReason.LARGE, os.fsdecode(path), files=1, bytes=found.st_size)
            work.left_out.append(large)
        elif taken + found.st_size > limits.bytes or files >= limits.files:
            beyond_files += 1
            beyond_bytes += found.st_size
        else:
            taken += found.st_size
            files += 1
            work.read.append(path)
    if beyond_files:
        work.left_out.append(LeftOut(LeftOutReason.LARGE, files=beyond_files, bytes=beyond_bytes))


def _status(root: bytes, path: bytes) -> os.stat_result | None:
    try:
        return os.lstat(os.path.join(root, path))  # noqa: PTH118  # bytes, which need be no text
    except OSError:
        return None
