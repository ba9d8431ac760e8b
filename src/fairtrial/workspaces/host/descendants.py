"""Finding, killing and reaping every process below this one.

On Linux the caller is a child subreaper, so an orphan at any depth becomes its child, and "no
child is left" means "nothing is left". Other systems have neither subreapers nor /proc: there the
process group is killed, and what `ps` shows below the caller; an orphan that left its group and
session before that escapes. This module is the only one that knows the difference.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Collection, Iterable

GIVE_UP_S = 10.0
"""How long a process may outlive SIGKILL (stuck in the kernel, or another user's)."""

_PR_SET_CHILD_SUBREAPER = 36
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


class Process:
    """What /proc or ps says of one process."""

    __slots__ = ("dead", "group", "parent", "pid")

    def __init__(self, pid: int, parent: int, group: int, *, dead: bool) -> None:
        self.pid = pid
        self.parent = parent
        self.group = group
        self.dead = dead


class Reaper:
    """Waits for children and sums what they used.

    Attributes:
        cpu_s: User and system time of all that were reaped.
        max_rss_bytes: The largest resident set of any one of them.
        ended: The wait status of each child that was reaped, by process id.
    """

    __slots__ = ("cpu_s", "ended", "max_rss_bytes")

    def __init__(self) -> None:
        self.cpu_s = 0.0
        self.max_rss_bytes = 0
        self.ended: dict[int, int] = {}

    def reap(self) -> bool:
        """Reap every child that has ended; return whether a living one is left."""
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            self.ended[pid] = status
            self.cpu_s += usage.ru_utime + usage.ru_stime
            self.max_rss_bytes = max(self.max_rss_bytes, usage.ru_maxrss * _RSS_UNIT)


def adopt_orphans() -> bool:
    """Make this process the parent of every orphan below it; return whether the system can."""
    if not sys.platform.startswith("linux"):
        return False
    import ctypes  # noqa: PLC0415  # slow to import; once, in the guard, and only on Linux

    answer: int = ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    return answer == 0


def open_process(pid: int) -> int:
    """Return a descriptor that polls readable when the process dies, or -1 if there is no such."""
    if not hasattr(os, "pidfd_open"):
        return -1
    try:
        return os.pidfd_open(pid)
    except OSError:  # a kernel before 5.3, or a filter that forbids it
        return -1


def kill_all(reaper: Reaper, spare: Collection[int] = ()) -> tuple[set[int], int]:
    """Kill every descendant of this process but those below `spare`; reap as they die.

    Returns:
        Those that were killed, and how many of them outlived SIGKILL for `GIVE_UP_S`.
    """
    killed: set[int] = set()
    give_up = time.monotonic() + GIVE_UP_S
    pause = 0.0005
    while reaper.reap():
        victims = [victim for victim in below(os.getpid(), spare) if not victim.dead]
        if not victims and spare:
            break
        _kill(victims)
        killed.update(victim.pid for victim in victims)
        if time.monotonic() > give_up:
            return killed, len(victims)
        time.sleep(pause)
        pause = min(pause * 1.5, 0.01)
    return killed, 0


def _kill(victims: Iterable[Process]) -> None:
    own = os.getpgrp()
    # One signal to a whole group also hits what is forked meanwhile: the kernel does not let a
    # process with a pending SIGKILL finish its fork. One by one, a chain of forks could get away.
    for group in {victim.group for victim in victims} - {own, 0}:
        signal_group(group, signal.SIGKILL)
    for victim in victims:
        try:
            os.kill(victim.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue


def signal_group(group: int, number: int) -> None:
    """Signal a process group; one that is gone is fine."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return


def below(root: int, spare: Collection[int] = ()) -> list[Process]:
    """Return the descendants of a process, dead ones that nobody has reaped included."""
    children: dict[int, list[Process]] = {}
    for process in processes():
        children.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    queue = [root]
    while queue:
        for child in children.pop(queue.pop(), ()):
            if child.pid not in spare:
                found.append(child)
                queue.append(child.pid)
    return found


def processes() -> list[Process]:
    """Return every process of this machine that this user can see."""
    return processes_of_proc() if os.path.exists("/proc/self/stat") else processes_of_ps()  # noqa: PTH110  # pathlib is slow to import


def processes_of_proc() -> list[Process]:
    """Return the processes that /proc shows."""
    found = []
    for name in os.listdir("/proc"):  # noqa: PTH208  # pathlib is slow to import
        if not name.isdigit():
            continue
        try:
            fd = os.open(f"/proc/{name}/stat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:  # it has ended
            continue
        try:
            stat = os.read(fd, 1024)
        except OSError:
            continue
        finally:
            os.close(fd)
        # The program's name stands in brackets and may hold anything.
        state, parent, group, *_ = stat[stat.rfind(b")") + 1 :].split(None, 4)
        found.append(Process(int(name), int(parent), int(group), dead=state in {b"Z", b"X"}))
    return found


def processes_of_ps() -> list[Process]:
    """Return the processes that `ps` shows, but for that `ps` itself."""
    import subprocess  # noqa: PLC0415  # slow to import, and not needed on Linux

    listing = subprocess.run(
        ["/bin/ps", "-axo", "pid=,ppid=,pgid=,stat="], capture_output=True, check=False
    )
    found = []
    for line in listing.stdout.splitlines():
        pid, parent, group, state = line.split(None, 3)
        found.append(Process(int(pid), int(parent), int(group), dead=state.startswith(b"Z")))
    return [process for process in found if process.pid != os.getpid()]
