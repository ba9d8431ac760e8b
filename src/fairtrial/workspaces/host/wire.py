"""Frames between the runner, the guard and the lanes, over Unix stream sockets.

A frame is a fixed header, a *head* (its fields) and a *payload* (raw standard input or output).
Parts up to `INLINE` bytes follow the header; a larger one travels as the descriptor of an
anonymous file. So every frame fits into an empty socket buffer: sending never blocks, nobody has
to read megabytes before it sees a cancel, and a lane never holds them in memory.

This module is also loaded by the forked processes; keep its imports few.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator

RUN, CANCEL, DONE, FAILED, CRASHED, FORK, GONE = range(1, 8)
"""What a frame says.

Runner to lane: run a program; end it. Lane to runner: it ended; it did not start; the lane has a
defect. Runner to guard: fork a lane. Guard to runner: a lane and all below it are gone.
"""

INLINE = 32 * 1024
_HEADER = struct.Struct("<BBIQ")  # kind, which parts are files, size of head and of payload
_HEAD_IS_FILE, _PAYLOAD_IS_FILE, _LANE_SOCKET = 1, 2, 4
_FD = struct.Struct("i")
_MAX_FDS = 3
_CHUNK = 60 * 1024  # below malloc's mmap threshold
_BUFFER = 256 * 1024  # macOS gives 8 KiB unless asked


class Payload:
    """The raw part of a frame: bytes, or a descriptor that the holder must close."""

    __slots__ = ("data", "fd", "size")

    def __init__(self, data: bytes = b"", fd: int = -1, size: int = 0) -> None:
        self.data = data
        self.fd = fd
        self.size = size if fd >= 0 else len(data)

    def read(self) -> bytes:
        """Return all of it."""
        return self.data if self.fd < 0 else read_file(self.fd, self.size)

    def close(self) -> None:
        """Close the descriptor, if there is one."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


class Frame:
    """One received frame; `lane` is the descriptor that came with a `FORK`, else -1."""

    __slots__ = ("head", "kind", "lane", "payload")

    def __init__(self, kind: int, head: bytes, payload: Payload, lane: int) -> None:
        self.kind = kind
        self.head = head
        self.payload = payload
        self.lane = lane


def pair() -> tuple[socket.socket, socket.socket]:
    """Return two connected sockets, each with room for any frame."""
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    for end in ends:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
    return ends


def anonymous_file() -> int:
    """Return the descriptor of a new empty file without a name, in memory where possible."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("fairtrial")
    import tempfile  # noqa: PLC0415  # slow to import, and not needed on Linux

    fd, path = tempfile.mkstemp(prefix="fairtrial-")
    os.unlink(path)  # noqa: PTH108  # pathlib is slow to import
    return fd


def write_all(fd: int, data: bytes) -> None:
    """Write all of `data` to a blocking descriptor."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def read_file(fd: int, size: int) -> bytes:
    """Return the first `size` bytes of a file."""
    parts: list[bytes] = []
    offset = 0
    while offset < size:
        part = os.pread(fd, size - offset, offset)  # nearly always all of it
        if not part:
            break
        parts.append(part)
        offset += len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _as_file(data: bytes) -> int:
    fd = anonymous_file()
    try:
        write_all(fd, data)
    except BaseException:
        os.close(fd)
        raise
    return fd


def send(
    sock: socket.socket,
    kind: int,
    head: bytes = b"",
    payload: Payload | None = None,
    lane: int = -1,
) -> None:
    """Send one frame; a payload's descriptor stays the caller's.

    Raises:
        OSError: the other side is gone, or has not read what was sent before.
    """
    payload = payload or Payload()
    flags, fds, own, inline = 0, [], [], [b""]
    try:
        for part, size, fd, flag in (
            (head, len(head), -1, _HEAD_IS_FILE),
            (payload.data, payload.size, payload.fd, _PAYLOAD_IS_FILE),
        ):
            if fd < 0 and size <= INLINE:
                inline.append(part)
                continue
            if fd < 0:
                fd = _as_file(part)  # noqa: PLW2901
                own.append(fd)
            flags |= flag
            fds.append(fd)
        if lane >= 0:
            flags |= _LANE_SOCKET
            fds.append(lane)
        inline[0] = _HEADER.pack(kind, flags, len(head), payload.size)
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, b"".join(map(_FD.pack, fds)))]
        message = b"".join(inline)
        if sock.sendmsg([message], rights if fds else []) != len(message):
            raise BlockingIOError("the other side does not read")
    finally:
        for fd in own:
            os.close(fd)


class Receiver:
    """Cuts what arrives on a socket into frames."""

    __slots__ = ("_buffer", "_fds", "_sock")

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._buffer = b""
        self._fds: list[int] = []

    def receive(self) -> Iterator[Frame]:
        """Read once and yield the frames that are complete.

        Raises:
            EOFError: the other side is gone.
        """
        try:
            data, rights, _, _ = self._sock.recvmsg(
                _CHUNK, socket.CMSG_SPACE(_MAX_FDS * _FD.size), _RECEIVE_FLAGS
            )
        except (BlockingIOError, InterruptedError):
            return
        except OSError as problem:
            raise EOFError from problem
        if not data:
            raise EOFError
        for level, kind, packed in rights:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                whole = len(packed) - len(packed) % _FD.size
                self._fds += [fd for (fd,) in _FD.iter_unpack(packed[:whole])]
        self._buffer = self._buffer + data if self._buffer else data
        while (frame := self._next()) is not None:
            yield frame

    def _next(self) -> Frame | None:
        if len(self._buffer) < _HEADER.size:
            return None
        kind, flags, head_size, payload_size = _HEADER.unpack_from(self._buffer)
        payload_at = _HEADER.size + (0 if flags & _HEAD_IS_FILE else head_size)
        end = payload_at + (0 if flags & _PAYLOAD_IS_FILE else payload_size)
        if len(self._buffer) < end:
            return None
        head = self._buffer[_HEADER.size : payload_at]
        if flags & _HEAD_IS_FILE:
            fd = self._take_fd()
            head = read_file(fd, head_size)
            os.close(fd)
        payload = (
            Payload(fd=self._take_fd(), size=payload_size)
            if flags & _PAYLOAD_IS_FILE
            else Payload(self._buffer[payload_at:end])
        )
        lane = self._take_fd() if flags & _LANE_SOCKET else -1
        self._buffer = self._buffer[end:]
        return Frame(kind, head, payload, lane)

    def _take_fd(self) -> int:
        fd = self._fds.pop(0)
        os.set_inheritable(fd, False)  # noqa: FBT003  # takes no keyword
        return fd

    def close(self) -> None:
        """Close descriptors that no frame took, and the socket."""
        for fd in self._fds:
            os.close(fd)
        self._fds.clear()
        self._sock.close()


_RECEIVE_FLAGS = getattr(socket, "MSG_CMSG_CLOEXEC", 0)


_RUN = struct.Struct("<dQI")
_DONE = struct.Struct("<iidQdBI")
_FAILED = struct.Struct("<Bi")
LANE = struct.Struct("<II")
"""Head of `FORK` and `GONE`: the lane's number; how many processes outlived SIGKILL."""

BAD_CWD, NOT_FOUND, NOT_STARTED = range(3)
"""Why a program did not start."""

TIMED_OUT, TRUNCATED, TAIL_CUT, CANCELLED = 1, 2, 4, 8
"""How a program ended, as bits."""


class Request:
    """The head of a `RUN` frame; `env` holds `KEY=value` strings."""

    __slots__ = ("argv", "cwd", "env", "max_output", "time_limit")

    def __init__(
        self, argv: list[bytes], env: list[bytes], cwd: bytes, time_limit: float, max_output: int
    ) -> None:
        self.argv = argv
        self.env = env
        self.cwd = cwd
        self.time_limit = time_limit  # infinity when there is none
        self.max_output = max_output

    def pack(self) -> bytes:
        """Return it as bytes."""
        strings = b"\0".join([self.cwd, *self.argv, *self.env])
        return pack_request(self.time_limit, self.max_output, len(self.argv), strings)

    @classmethod
    def unpack(cls, head: bytes) -> Request:
        """Return the request in a frame's head."""
        time_limit, max_output, count = _RUN.unpack_from(head)
        cwd, *strings = head[_RUN.size :].split(b"\0")
        return cls(strings[:count], strings[count:], cwd, time_limit, max_output)


def pack_request(time_limit: float, max_output: int, argc: int, strings: bytes) -> bytes:
    """Return a request as bytes.

    `strings` are the directory, the `argc` arguments and the variables. None of them can hold a
    NUL, so NULs part them.
    """
    return _RUN.pack(time_limit, max_output, argc) + strings


class Done:
    """The head of a `DONE` frame."""

    __slots__ = (
        "cpu_s",
        "duration_s",
        "flags",
        "killed",
        "max_rss_bytes",
        "returncode",
        "stderr_tail",
        "survivors",
    )

    def __init__(self) -> None:
        self.returncode = 0  # negative: the signal that ended it
        self.cpu_s = 0.0
        self.max_rss_bytes = 0
        self.duration_s = 0.0
        self.flags = 0
        self.killed = 0
        self.survivors = 0
        self.stderr_tail = b""

    def pack(self) -> bytes:
        """Return it as bytes."""
        fixed = _DONE.pack(
            self.returncode,
            self.survivors,
            self.cpu_s,
            self.max_rss_bytes,
            self.duration_s,
            self.flags,
            self.killed,
        )
        return fixed + self.stderr_tail

    @classmethod
    def unpack(cls, head: bytes) -> Done:
        """Return the result in a frame's head."""
        done = cls()
        (
            done.returncode,
            done.survivors,
            done.cpu_s,
            done.max_rss_bytes,
            done.duration_s,
            done.flags,
            done.killed,
        ) = _DONE.unpack_from(head)
        done.stderr_tail = head[_DONE.size :]
        return done


def pack_failure(stage: int, error: int, path: bytes) -> bytes:
    """Return the head of a `FAILED` frame: why, the errno, and the path it is about."""
    return _FAILED.pack(stage, error) + path


def unpack_failure(head: bytes) -> tuple[int, int, bytes]:
    """Return stage, errno and path of a `FAILED` frame."""
    stage, error = _FAILED.unpack_from(head)
    return stage, error, head[_FAILED.size :]
