"""Which process is at an experiment, and whether it lives."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Owner:
    """A process, told apart from a later one of the same number.

    Attributes:
        pid: Its process id.
        host: The machine's name.
        boot: The machine's boot, when the system names it.
        space: The space its process id belongs to: containers on one host number their own.
        started: Clock ticks from boot to the start of the process, when the system tells.
    """

    pid: int
    host: str
    boot: str | None
    space: str | None
    started: int | None

    def alive(self, proc: Path = _PROC) -> bool | None:
        """Tell whether the process lives; None when it cannot be seen from here."""
        here = this_process(proc)
        if self.host != here.host:
            return None
        if self.boot != here.boot:
            return False
        if self.space != here.space:
            return None
        try:
            os.kill(self.pid, 0)
        except PermissionError:
            pass  # It lives and belongs to another user.
        except (ProcessLookupError, OverflowError):
            return False
        return self.started == _started(self.pid, proc)


def this_process(proc: Path = _PROC) -> Owner:
    """Return the process that runs this code."""
    pid = os.getpid()
    return Owner(
        pid=pid,
        host=os.uname().nodename,
        boot=_boot(proc),
        space=_space(proc),
        started=_started(pid, proc),
    )


def _boot(proc: Path) -> str | None:
    try:
        return (proc / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None


def _space(proc: Path) -> str | None:
    try:
        return str((proc / "self/ns/pid").readlink())
    except OSError:
        return None


def _started(pid: int, proc: Path) -> int | None:
    """Return field 22 of /proc/PID/stat; None for a zombie, and where there is no /proc."""
    try:
        stat = (proc / str(pid) / "stat").read_text()
    except OSError:
        return None
    # The name may hold spaces; field 3, the state, is the first after its closing bracket.
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] == "Z" else int(fields[22 - 3])
