"""The few calls of Linux that Python 3.11 does not have: namespaces, mounts, the loopback.

This module is loaded by the small programs of this package; keep its imports few.
"""

from __future__ import annotations

import ctypes
import fcntl
import marshal
import os
import signal
import socket
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:  # slow to import
    from typing import Any

NEWNS, NEWUSER, NEWNET = 0x00020000, 0x10000000, 0x40000000
MS_REC, MS_PRIVATE = 0x4000, 0x40000
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 0x1
_FD = struct.Struct("i")
_IFREQ = struct.Struct("16sH14x")
_EINVAL = 22
BACKLOG = 512
_OWN_PROCESSES = 3
"""The launcher, bwrap, and its first process inside."""


class _Libc:
    """The C library, with `errno`."""

    def __init__(self) -> None:
        self.lib = ctypes.CDLL(None, use_errno=True)

    def check(self, answer: int, what: str) -> None:
        if answer != 0:
            number = ctypes.get_errno()
            raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(flags: int, what: str) -> None:
    """Give this process namespaces of its own.

    Raises:
        OSError: the system does not allow it; `what` names them in the message.
    """
    libc = _Libc()
    libc.check(libc.lib.unshare(flags), what)


def own_namespaces() -> None:
    """Enter a user, mount and network namespace of this process's own, as the same user.

    Raises:
        OSError: the system does not allow it.
    """
    user, group = os.getuid(), os.getgid()
    unshare(NEWUSER | NEWNS | NEWNET, "a user namespace")
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123  # pathlib is slow to import
            file.write(text)
    mount("none", "/", "", MS_REC | MS_PRIVATE, "")
    loopback_up()


def limit_processes(most: int | None) -> None:
    """Limit the processes of this user in this process's own user namespace (Linux 5.14)."""
    if most is not None:
        import resource  # noqa: PLC0415  # seldom needed

        most += _OWN_PROCESSES
        resource.setrlimit(resource.RLIMIT_NPROC, (most, most))


def enter(pid: int) -> None:
    """Enter the user and network namespace of another process.

    Raises:
        OSError: the system does not allow it, or the process is gone.
    """
    libc = _Libc()
    user = os.open(f"/proc/{pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    net = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    if libc.lib.setns(user, NEWUSER) != 0 and ctypes.get_errno() != _EINVAL:  # it is ours already
        libc.check(-1, "its user namespace")
    libc.check(libc.lib.setns(net, NEWNET), "its network namespace")


def mount(source: str, target: str, kind: str, flags: int, options: str) -> None:
    """Mount a file system.

    Raises:
        OSError: the system does not allow it.
    """
    libc = _Libc()
    arguments = [os.fsencode(text) or None for text in (source, target, kind)]
    data = os.fsencode(options) or None
    answer = libc.lib.mount(*arguments, ctypes.c_ulong(flags), data)
    libc.check(answer, f"mounting {kind or target}")


def mount_overlay(lower: list[str], upper: str, work: str, target: str) -> None:
    """Lay `upper` over folders; what changes below `target` is written to it.

    Raises:
        OSError: the kernel or the file system cannot do it.
    """
    # Through descriptors: no comma, colon or length of a path can break the list of options.
    opened = [os.open(path, os.O_PATH | os.O_CLOEXEC) for path in (*lower, upper, work)]
    try:
        *lowers, up, aside = (f"/proc/self/fd/{fd}" for fd in opened)
        options = f"lowerdir={':'.join(lowers)},upperdir={up},workdir={aside},userxattr"
        mount("overlay", target, "overlay", 0, options)
    finally:
        for fd in opened:
            os.close(fd)


def loopback_up() -> None:
    """Bring the loopback of this process's network namespace up."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        answer = fcntl.ioctl(sock, _SIOCGIFFLAGS, _IFREQ.pack(b"lo", 0))
        flags = _IFREQ.unpack(answer)[1]
        fcntl.ioctl(sock, _SIOCSIFFLAGS, _IFREQ.pack(b"lo", flags | _IFF_UP))


def listen(port: int) -> socket.socket:
    """Return a socket that listens on a port of 127.0.0.1 in this network namespace."""
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(("127.0.0.1", port))
    sock.listen(BACKLOG)
    return sock


def hand_over(control: socket.socket, run: int, listener: socket.socket) -> None:
    """Give a listening socket to the runner, with the number of the run it is for."""
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, _FD.pack(listener.fileno()))]
    control.sendmsg([b"%d" % run], rights)


def order_in(file: str) -> dict[str, Any]:
    """Take the order out of a file, which may hold secrets and is gone afterwards."""
    # Not JSON: its module and what that imports take longer than all that is done here.
    with open(file, "rb") as source:  # noqa: PTH123  # pathlib is slow to import
        order: dict[str, Any] = marshal.load(source)  # noqa: S302  # the runner wrote it
    os.unlink(file)  # noqa: PTH108
    return order


def note(file: str, notes: dict[str, Any]) -> None:
    """Write down what the runner is to know beside an order's result."""
    with open(f"{file}.status", "wb") as target:  # noqa: PTH123  # pathlib is slow to import
        marshal.dump(notes, target)


def join(groups: list[str]) -> None:
    """Put this process, and so all it will start, into control groups.

    Raises:
        OSError: one is gone or does not take it.
    """
    for folder in groups:
        with open(f"{folder}/cgroup.procs", "w") as file:  # noqa: PTH123  # pathlib is slow
            file.write("0")


def end_like(code: int) -> None:
    """End this process as a program ended that a supervisor tells of by an exit status.

    128 and a signal's number is what one says of a program that the signal ended.
    """
    if 128 < code <= 128 + 64:
        number = code - 128
        import resource  # noqa: PLC0415  # seldom needed

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if number not in {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
        os.kill(os.getpid(), number)
    os._exit(code)
