"""Limits of memory and of processes for all that a trial runs, by Linux's control groups.

Version 1 has a tree of folders for each controller, version 2 one for all. In both, a folder made
below one that this process may write to limits the processes put into it, and all they start.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fairtrial.model.isolation import Guarantee, Held, Limits

_GIVE_UP_S = 5.0


@dataclass(frozen=True, slots=True)
class Tree:
    """Where control groups can be made.

    Attributes:
        version: 1 or 2.
        controller: `memory` or `pids`; both for version 2.
        parent: The folder to make them in.
    """

    version: int
    controller: str
    parent: Path


@dataclass(frozen=True, slots=True)
class Group:
    """The control groups of one workspace: one folder, or one for each controller."""

    folders: tuple[Path, ...] = ()

    def hits(self, limits: Limits) -> tuple[str, ...]:
        """Return which limits were reached."""
        told = []
        if limits.memory_bytes is not None and self._count("oom_kill") > 0:
            told.append(f"memory: a process was killed at {limits.memory_bytes:,} bytes")
        if limits.processes is not None and self._count("max", "pids.events") > 0:
            told.append(f"processes: no more than {limits.processes:,} were let run")
        return tuple(told)

    def _count(self, word: str, *files: str) -> int:
        for folder in self.folders:
            for file in files or ("memory.oom_control", "memory.events"):
                with contextlib.suppress(OSError, ValueError):
                    for line in (folder / file).read_text().splitlines():
                        name, _, number = line.partition(" ")
                        if name == word:
                            return int(number)
        return 0

    def remove(self) -> None:
        """Kill what is in it and remove it; what is gone is fine."""
        for folder in self.folders:
            remove_group(folder)


def remove_group(folder: Path) -> None:
    """Kill what is in a control group and remove it; one that is gone is fine."""
    give_up = time.monotonic() + _GIVE_UP_S
    while folder.exists():
        for below in [path for path in folder.iterdir() if path.is_dir()]:
            remove_group(below)  # made by something that the trial ran
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError:  # the kernel needs a moment after the last process, too
            _kill(folder)
            if time.monotonic() > give_up:
                return
            time.sleep(0.002)


def _kill(folder: Path) -> None:
    with contextlib.suppress(OSError):
        (folder / "cgroup.kill").write_text("1")
    with contextlib.suppress(OSError):
        for pid in (folder / "cgroup.procs").read_text().split():
            with contextlib.suppress(OSError):
                os.kill(int(pid), signal.SIGKILL)


class ControlGroups:
    """What this process can make, found once.

    Args:
        proc: The folder of this process, `/proc/self`, unless a test says otherwise.
    """

    def __init__(self, proc: Path = Path("/proc/self")) -> None:
        self._trees = {controller: _find(controller, proc) for controller in ("memory", "pids")}

    def make(
        self, name: str, limits: Limits, note: Callable[[str], None]
    ) -> tuple[Group, tuple[Held, ...]]:
        """Make the groups of a workspace.

        Args:
            name: Their name, which nothing else has.
            limits: What they limit.
            note: Is told the path of each before it is made.

        Returns:
            The groups, and for each limit that was asked for whether it holds.
        """
        folders: list[Path] = []
        held = []
        for guarantee, controller, limit, setting in (
            (Guarantee.MEMORY, "memory", limits.memory_bytes, _limit_memory),
            (Guarantee.PROCESS_COUNT, "pids", limits.processes, _limit_processes),
        ):
            if limit is None:
                continue
            tree = self._trees[controller]
            if isinstance(tree, str):
                held.append(Held(guarantee, holds=False, how=tree))
                continue
            folder = tree.parent / name
            try:
                if folder not in folders:
                    note(str(folder))
                    folder.mkdir()
                    folders.append(folder)
                setting(folder, tree.version, limit)
            except OSError as problem:
                held.append(Held(guarantee, holds=False, how=f"no control group: {problem}"))
            else:
                how = f"{limit:,} by a control group, version {tree.version}"
                held.append(Held(guarantee, holds=True, how=how))
        if limits.cpus is not None:
            held.append(Held(Guarantee.CPUS, holds=False, how="only level image limits processors"))
        return Group(tuple(folders)), tuple(held)


def _limit_memory(folder: Path, version: int, limit: int) -> None:
    if version == 1:
        (folder / "memory.limit_in_bytes").write_text(str(limit))
        with contextlib.suppress(OSError):  # a kernel that does not count swap
            (folder / "memory.memsw.limit_in_bytes").write_text(str(limit))
        return
    (folder / "memory.max").write_text(str(limit))
    with contextlib.suppress(OSError):
        (folder / "memory.swap.max").write_text("0")


def _limit_processes(folder: Path, _version: int, limit: int) -> None:
    (folder / "pids.max").write_text(str(limit))


def _find(controller: str, proc: Path) -> Tree | str:
    """Return where groups of a controller can be made, or why nowhere."""
    try:
        mounts = list(_mounts((proc / "mounts").read_text()))
        own = _own_groups((proc / "cgroup").read_text())
    except OSError:
        return "this system has no control groups"
    for mount, options in mounts:
        if options is not None and controller in options:
            return _first(_candidates(mount, own.get(controller, "/")), controller, _takes_1, 1)
    for mount, options in mounts:
        if options is None and controller in _words(mount / "cgroup.controllers"):
            return _first(_candidates(mount, own.get("", "/")), controller, _takes_2, 2)
    return f"no control groups for {controller} are mounted"


def _first(
    candidates: Sequence[Path], controller: str, takes: Callable[[Path, str], bool], version: int
) -> Tree | str:
    for folder in candidates:
        if takes(folder, controller):
            return Tree(version, controller, folder)
    return f"no folder of control groups for {controller} can be written: {candidates[-1]}"


def _mounts(text: str) -> Iterator[tuple[Path, list[str] | None]]:
    """Yield each tree of control groups: its folder, and its controllers in version 1."""
    for line in text.splitlines():
        _, folder, kind, options, *_ = line.split()
        path = Path(folder.encode().decode("unicode_escape"))
        if kind == "cgroup":
            yield path, options.split(",")
        elif kind == "cgroup2":
            yield path, None


def _own_groups(text: str) -> dict[str, str]:
    """Return this process's group by controller; that of version 2 by the empty text."""
    own = {}
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            own[controller] = path
    return own


def _candidates(mount: Path, own: str) -> list[Path]:
    """Return where a group could be made: in the process's own, then nearer and nearer the top."""
    folder = Path(os.path.normpath(f"{mount}/{own}"))
    if not folder.is_relative_to(mount) or not folder.is_dir():
        folder = mount  # a container sees only its own part of the tree
    return [folder, *(parent for parent in folder.parents if parent.is_relative_to(mount))]


def _takes_1(folder: Path, _controller: str) -> bool:
    return os.access(folder, os.W_OK | os.X_OK)


def _takes_2(folder: Path, controller: str) -> bool:
    """Tell whether groups below a folder have a controller, and this process may enter one."""
    if not (os.access(folder, os.W_OK | os.X_OK) and os.access(folder / "cgroup.procs", os.W_OK)):
        return False
    passed_on = folder / "cgroup.subtree_control"
    if controller not in _words(passed_on):
        with contextlib.suppress(OSError):  # a group that holds processes cannot
            passed_on.write_text(f"+{controller}")
    return controller in _words(passed_on)


def _words(file: Path) -> list[str]:
    try:
        return file.read_text().split()
    except OSError:
        return []
