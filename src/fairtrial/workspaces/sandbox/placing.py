"""Puts the files of an archive below a folder that may hold hostile links, or reads one of it.

Runs as a program of its own: in a sandbox where there is one. Every path is walked one name at a
time from an open folder and no symbolic link is followed, so nothing outside is ever touched.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tarfile
from typing import IO

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def names_of(path: str) -> list[str]:
    """Return the names that lead to a relative path.

    Raises:
        ValueError: it leads out of where it starts.
    """
    names = [name for name in path.split("/") if name not in {"", "."}]
    if path.startswith("/") or ".." in names:
        raise ValueError(f"{path!r} leads out of its folder")
    return names


def put(root: str, archive: IO[bytes]) -> None:
    """Unpack an archive below a folder, over what is there.

    Raises:
        ValueError: a path in it leads out of it.
        OSError: the folder cannot be written.
    """
    top = os.open(root, _FOLDER)
    try:
        with tarfile.open(fileobj=archive, mode="r|") as files:
            for member in files:
                names = names_of(member.name)
                if names:
                    _put_one(top, names, member, files)
    finally:
        os.close(top)


def _put_one(top: int, names: list[str], member: tarfile.TarInfo, files: tarfile.TarFile) -> None:
    folder = _walk(top, names[:-1])
    name = names[-1]
    try:
        if member.isdir():
            os.close(_walk(folder, [name]))
            return
        _clear(folder, name)
        if member.issym():
            os.symlink(member.linkname, name, dir_fd=folder)
        elif (source := files.extractfile(member)) is not None:
            fd = os.open(name, _NEW, 0o600, dir_fd=folder)
            with os.fdopen(fd, "wb") as target:
                shutil.copyfileobj(source, target)
                os.fchmod(target.fileno(), member.mode & 0o777)
    finally:
        os.close(folder)


def _walk(top: int, names: list[str]) -> int:
    """Return the folder that names lead to; what is no folder on the way makes room for one."""
    folder = os.dup(top)
    for name in names:
        try:
            try:
                below = os.open(name, _FOLDER, dir_fd=folder)
            except (FileNotFoundError, NotADirectoryError, OSError):
                _clear(folder, name)
                os.mkdir(name, 0o755, dir_fd=folder)
                below = os.open(name, _FOLDER, dir_fd=folder)
        finally:
            os.close(folder)
        folder = below
    return folder


def _clear(folder: int, name: str) -> None:
    try:
        kind = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return
    if stat.S_ISDIR(kind.st_mode):
        shutil.rmtree(name, dir_fd=folder)
    else:
        os.unlink(name, dir_fd=folder)


def get(root: str, path: str, target: IO[bytes]) -> bool:
    """Write a file's content to `target`; return whether there was such a regular file."""
    fd = os.open(root, _FOLDER)
    *folders, name = names_of(path) or [""]
    try:
        for below in folders:
            opened = os.open(below, _FOLDER, dir_fd=fd)
            os.close(fd)
            fd = opened
        # Not blocking: a pipe without a writer must not hold us up.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        opened = os.open(name, flags, dir_fd=fd)
    except OSError:
        return False
    finally:
        os.close(fd)
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        return False
    with os.fdopen(opened, "rb") as source:
        shutil.copyfileobj(source, target)
    return True


def listed(root: str, path: str, limit: int) -> list[str]:
    """Return the regular files below a folder, relative to it, in order and `limit` at most."""
    top = os.open(root, _FOLDER)
    try:
        for below in names_of(path):
            opened = os.open(below, _FOLDER, dir_fd=top)
            os.close(top)
            top = opened
        found: list[str] = []
        # `fwalk` works with descriptors and follows no link.
        for folder, folders, names, fd in os.fwalk(".", dir_fd=top):
            folders.sort()
            found += [
                os.path.normpath(f"{folder}/{name}")
                for name in names
                if stat.S_ISREG(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode)
            ]
            if len(found) > limit:
                break
    except OSError:
        return []
    finally:
        os.close(top)
    return sorted(found)[:limit]


NO_FILE = 3
"""The exit status of `get` when there is no such regular file."""


def main(verb: str, root: str, path: str = "", limit: str = "0") -> None:
    """Do one of three things.

    `put ROOT` takes an archive from standard input. `get ROOT PATH` and `list ROOT PATH LIMIT`
    write a file's content, or names that end with NUL each, to standard output.
    """
    if verb == "put":
        try:
            put(root, sys.stdin.buffer)
        except (ValueError, tarfile.TarError) as problem:
            sys.exit(f"{problem}")
    elif verb == "list":
        for name in listed(root, path, int(limit)):
            sys.stdout.buffer.write(os.fsencode(name) + b"\0")
    elif not get(root, path, sys.stdout.buffer):
        sys.exit(NO_FILE)
