"""Starting a program as cheaply as the system can: `posix_spawn` from a small process."""

from __future__ import annotations

import errno
import os
import signal

from . import wire

# The lane ignores these, and Python two more; a program must not inherit that.
_DEFAULT_SIGNALS = tuple(
    getattr(signal, name)
    for name in ("SIGHUP", "SIGINT", "SIGTERM", "SIGPIPE", "SIGXFSZ", "SIGCHLD", "SIGQUIT")
)


class StartError(Exception):
    """A program could not be started: the stage, the errno and the path it is about."""

    def __init__(self, stage: int, error: int, path: bytes) -> None:
        super().__init__(stage, error, path)
        self.stage = stage
        self.error = error
        self.path = path


def spawn(request: wire.Request, stdin: int, stdout: int, stderr: int) -> int:
    """Start a program in its own session and return its process id.

    The caller's working directory becomes the program's.

    Raises:
        StartError: it did not start.
    """
    try:
        os.chdir(request.cwd)
    except OSError as problem:
        raise StartError(wire.BAD_CWD, problem.errno or 0, request.cwd) from None
    env = dict(variable.split(b"=", 1) for variable in request.env)
    path = find(request.argv[0], env)
    files = [(os.POSIX_SPAWN_DUP2, fd, to) for to, fd in enumerate((stdin, stdout, stderr))]
    try:
        return _posix_spawn(path, request.argv, env, files)
    except OSError as problem:
        raise StartError(wire.NOT_STARTED, problem.errno or 0, path) from None


def _posix_spawn(
    path: bytes, argv: list[bytes], env: dict[bytes, bytes], files: list[tuple[int, int, int]]
) -> int:
    try:
        return os.posix_spawn(
            path, argv, env, file_actions=files, setsid=True,
            setsigmask=(), setsigdef=_DEFAULT_SIGNALS,
        )  # fmt: skip
    except NotImplementedError:  # an old C library; a group of its own is the next best
        return os.posix_spawn(
            path, argv, env, file_actions=files, setpgroup=0,
            setsigmask=(), setsigdef=_DEFAULT_SIGNALS,
        )  # fmt: skip


def find(program: bytes, env: dict[bytes, bytes]) -> bytes:
    """Return the path of a program: as it is when it has a slash, else by the PATH of `env`.

    Raises:
        StartError: no folder of PATH holds it.
    """
    if b"/" in program:
        return program
    search = env.get(b"PATH", os.fsencode(os.defpath))
    denied = b""
    for folder in search.split(b":"):
        path = (folder or b".") + b"/" + program
        if os.access(path, os.X_OK) and not os.path.isdir(path):  # noqa: PTH112  # pathlib is slow
            return path
        if not denied and os.path.isfile(path):  # noqa: PTH113  # pathlib is slow to import
            denied = path
    if denied:
        raise StartError(wire.NOT_STARTED, errno.EACCES, denied)
    raise StartError(wire.NOT_FOUND, errno.ENOENT, program)
