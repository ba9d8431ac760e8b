"""Run by a lane: makes namespaces, the overlay and the one port, then runs bwrap in them.

How the start went is written to a file of its own: an exit status cannot tell a failure of the
sandbox from one of the program.
"""

from __future__ import annotations

import os
import signal
import socket

from . import kernel

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` is slow to import
    from typing import Any

    Order = dict[str, Any]

CONTROL_GROUP, OVERLAY = "the control group", "the overlay"
"""Steps that a workspace can do without."""


class Sandbox:
    """One run of bwrap, and the program in it."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._group = 0
        self._asked_to_end = False
        signal.signal(signal.SIGTERM, self._end)

    def run(self) -> tuple[int, bool]:
        """Return the exit status of bwrap, and whether the program was started."""
        info_out, info_in = os.pipe()
        status_out, status_in = os.pipe()
        arguments = os.memfd_create("arguments")
        with os.fdopen(os.dup(arguments), "wb") as file:
            file.write(os.fsencode("".join(f"{word}\0" for word in self._order["bwrap"])))
        os.lseek(arguments, 0, os.SEEK_SET)
        own = {"--info-fd": info_in, "--json-status-fd": status_in, "--args": arguments}
        argv = [self._order["program"]]
        for name, fd in own.items():
            os.set_inheritable(fd, True)  # noqa: FBT003  # takes no keyword
            argv += [name, str(fd)]
        # A group of its own: SIGTERM for the lane's program must not end bwrap before the program.
        pid = os.posix_spawn(
            argv[0],
            [*argv, "--", *self._order["argv"]],
            {},
            setpgroup=0,
            setsigmask=(),
            setsigdef=(signal.SIGTERM,),
        )
        for fd in own.values():
            os.close(fd)
        self._learn_group(_all(info_out))
        _, status = os.waitpid(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        # bwrap tells of an exit status only when the program was there to have one.
        started = b'"exit-code"' in _all(status_out) or (code < 0 and self._group != 0)
        return (128 - code if code < 0 else code), started

    def _learn_group(self, info: bytes) -> None:
        if b"}" in info:
            # {"child-pid": 123, …}
            self._group = int(
                info.partition(b"child-pid")[2].split(b":")[1].split(b",")[0].strip(b" \n}")
            )
        if self._asked_to_end:
            self._end(0, None)

    def _end(self, _number: int, _frame: object) -> None:
        self._asked_to_end = True
        if self._group:
            try:
                os.killpg(self._group, signal.SIGTERM)
            except OSError:
                return


def _all(fd: int) -> bytes:
    data = b""
    while part := os.read(fd, 4096):
        data += part
    return data


def prepare(order: Order) -> tuple[str, str] | None:
    """Make what bwrap is to find; return the step that failed, and why."""
    step = CONTROL_GROUP
    try:
        kernel.join(order["cgroups"])
        step = "the runner's socket"
        with socket.socket(socket.AF_UNIX) as control:
            if order["port"] is not None:
                control.connect("control")
            step = "its namespaces"
            kernel.own_namespaces()
            kernel.limit_processes(order["processes"])
            if order["lower"]:
                step = OVERLAY
                kernel.mount_overlay(order["lower"], "upper", "work", "merged")
            if order["port"] is not None:
                step = "the one port"
                with kernel.listen(order["port"]) as listener:
                    kernel.hand_over(control, order["run"], listener)
    except OSError as problem:
        return step, str(problem)
    return None


def main(file: str) -> None:
    """Run the program of the order in a file, and end as it ended.

    The current folder is the workspace's own. The order's fields are `program`, the path of bwrap;
    `bwrap`, its options; `argv`, the program; `cgroups`, folders to join; `lower`, folders of the
    overlay, none for no overlay; `port`, the one port or None; `run`, a number that tells the
    runner whose port it is; `processes`, how many may be in the user namespace, None for no limit.
    """
    order = kernel.order_in(file)
    problem = prepare(order)
    code, started = 1, False
    if problem is None:
        code, started = Sandbox(order).run()
    kernel.note(file, {"problem": problem, "started": started})
    kernel.end_like(code)
