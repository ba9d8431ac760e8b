"""Puts every file of a folder into the index of a repository beside it, and tells what differs.

Runs as a program of its own, in a sandbox where there is one. git takes a folder with a repository
of its own for a submodule and looks no further, or fails when nothing is committed there. Many
programs make such folders; here they are folders as any.
"""

from __future__ import annotations

import contextlib
import os
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping

_DIFF = (
    "git", "diff", "--cached", "--binary", "--full-index", "--no-renames", "--no-color",
    "--no-ext-diff", "--no-textconv",
)  # fmt: skip

_ENTER = stat.S_IRUSR | stat.S_IWUSR | stat.S_IXUSR


def add_all(top: str, env: Mapping[str, str]) -> None:
    """Put the files below a folder into the index, but for new ones that a `.gitignore` names.

    Args:
        top: The folder, as bytes can name it.
        env: The environment of git, which says where the repository is.

    Raises:
        FileNotFoundError: git is not there.
        subprocess.CalledProcessError: git failed; its message is in `stderr`.
    """
    nested = list(_with_repositories(os.fsencode(top)))
    paths = [b".", *(b":(exclude,literal)" + folder for folder in nested)]
    words = ["add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul"]
    try:
        _git(top, env, words, b"\0".join(paths))
    except subprocess.CalledProcessError:
        if not _let_files_be_read(os.fsencode(top)):
            raise
        _git(top, env, words, b"\0".join(paths))
    if nested:
        known = _git(top, env, ["ls-files", "-z", "--", *map(os.fsdecode, nested)], b"")
        files = dict.fromkeys(known.split(b"\0")[:-1])
        for folder in nested:
            files |= dict.fromkeys(_files_below(os.fsencode(top), folder))
        update = ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"]
        _git(top, env, update, b"".join(file + b"\0" for file in files))


def _with_repositories(top: bytes) -> Iterator[bytes]:
    """Yield the outermost folders below another that have a repository of their own."""
    _let(top, _ENTER)
    for folder, names, files in _walk(top):
        for name in names:
            _let(os.path.join(folder, name), _ENTER)  # noqa: PTH118  # of bytes
        if folder != top and b".git" in (*names, *files):
            yield os.path.relpath(folder, top)
            names.clear()
        names[:] = [name for name in names if name != b".git"]


def _walk(top: bytes) -> Iterator[tuple[bytes, list[bytes], list[bytes]]]:
    """Yield what `os.walk` does, however deep folders lie in each other."""
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        names: list[bytes] = []
        files: list[bytes] = []
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                (names if entry.is_dir() else files).append(entry.name)
        yield folder, names, files
        below = (os.path.join(folder, name) for name in reversed(names))  # noqa: PTH118  # of bytes
        waiting += [path for path in below if not os.path.islink(path)]  # noqa: PTH114


def _let_files_be_read(top: bytes) -> bool:
    """Let every file below a folder be read; return whether one could not be before.

    A program that took its own files' rights away would leave nobody a verdict.
    """
    given = 0
    for folder, _, files in _walk(top):
        for name in files:
            given += _let(os.path.join(folder, name), stat.S_IRUSR)  # noqa: PTH118  # of bytes
    return given > 0


def _let(path: bytes, rights: int) -> bool:
    """Give the owner of a file or folder rights that are missing; return whether one was."""
    try:
        mode = os.lstat(path).st_mode
        if stat.S_ISLNK(mode) or mode & rights == rights:
            return False
        os.chmod(path, stat.S_IMODE(mode) | rights)  # noqa: PTH101  # of bytes
    except OSError:  # it is another user's
        return False
    return True


def _files_below(top: bytes, below: bytes) -> Iterator[bytes]:
    """Yield regular files and links below a folder, but for those of repositories."""
    for folder, names, files in _walk(os.path.join(top, below)):  # noqa: PTH118  # of bytes
        names[:] = [name for name in names if name != b".git"]
        for name in (*files, *names):
            path = os.path.join(folder, name)  # noqa: PTH118
            link = os.path.islink(path)  # noqa: PTH114
            if name != b".git" and (link or os.path.isfile(path)):  # noqa: PTH113
                yield os.path.relpath(path, top)


def _git(top: str, env: Mapping[str, str], words: list[str], stdin: bytes) -> bytes:
    done = subprocess.run(  # noqa: S603
        ["git", *words],  # noqa: S607  # the user's git
        env=env,
        cwd=top,
        input=stdin,
        capture_output=True,
        check=True,
    )
    return done.stdout


def main(base: str, *excluded: str) -> None:
    """Print what differs from a tree in the current folder, but for what is excluded."""
    try:
        add_all(".", os.environ)
    except subprocess.CalledProcessError as problem:
        sys.exit(problem.stderr.decode(errors="replace"))
    os.execvp("git", [*_DIFF, base, "--", ".", *excluded])  # noqa: S606, S607  # no shell
