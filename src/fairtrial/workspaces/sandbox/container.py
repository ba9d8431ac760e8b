"""Run by a lane: runs one container, gives it the one port, and removes it when it has ended."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from typing import Any

from . import kernel

Order = dict[str, Any]
"""What to run. Fields:

`engine`: the path of podman or docker; `argv`: its arguments; `name`: the container's; `env`: the
environment of the engine's client; `port`: the one port or None; `run`: a number that tells the
runner whose port it is.
"""

_NOT_STARTED = {125, 126, 127}
"""The exit statuses by which an engine says that it could not run a container or its program."""
_PATIENCE_S = 30.0


PIPE, PIPE_INSIDE = "go/pipe", "/run/trial/pipe"
"""What the program waits for: where it is here, and in the container."""


def shows(pid: int, inside: str, outside: str) -> bool:
    """Tell whether a process sees a file of ours under another name.

    An engine may run on another machine, where its numbers of processes mean others.
    """
    try:
        theirs, ours = os.stat(f"/proc/{pid}/root{inside}"), os.stat(outside)  # noqa: PTH116
    except OSError:
        return False
    return (theirs.st_dev, theirs.st_ino) == (ours.st_dev, ours.st_ino)


class Container:
    """One container, from its start to its removal."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._client: subprocess.Popen[bytes] | None = None
        self._asked_to_end = False
        signal.signal(signal.SIGTERM, self._end)

    def run(self) -> tuple[int, dict[str, Any]]:
        """Return the exit status of the program, and what is known of the container."""
        order = self._order
        problem = None
        # A group of its own, and a container of its own: SIGTERM is passed on by `_end` alone.
        argv = [order["engine"], *order["argv"]]
        with subprocess.Popen(argv, env=order["env"], process_group=0) as client:  # noqa: S603
            self._client = client
            if self._asked_to_end:
                self._end(0, None)
            if order["port"] is not None:
                problem = self._open_port(client)
                if problem is not None:
                    client.terminate()
            code = client.wait()
        state = self._state()
        self._ask("rm", "--force", order["name"])
        about = {
            "problem": problem,
            "started": code not in _NOT_STARTED or not state.get("StartedAt", "0").startswith("0"),
            "out_of_memory": bool(state.get("OOMKilled")),
        }
        return (128 - code if code < 0 else code), about

    def _end(self, _number: int, _frame: object) -> None:
        self._asked_to_end = True
        if self._client is not None and self._client.returncode is None:
            self._client.terminate()

    def _open_port(self, client: subprocess.Popen[bytes]) -> str | None:
        """Listen inside the container and let its program go on; return what went wrong."""
        pid = self._pid(client)
        if pid is None:
            if client.poll() is not None:
                return None
            return (
                "its first process was not found on this machine: it has to run here and as this "
                "user, or fairtrial as root"
            )
        ours, theirs = socket.socketpair()
        helper = os.fork()  # one process cannot leave a user namespace again
        if helper == 0:
            try:
                with socket.socket(socket.AF_UNIX) as control:
                    control.connect("control")
                    kernel.enter(pid)
                    kernel.loopback_up()
                    with kernel.listen(self._order["port"]) as listener:
                        kernel.hand_over(control, self._order["run"], listener)
                os._exit(0)
            except OSError as error:
                theirs.send(str(error).encode())
            finally:
                os._exit(1)
        theirs.close()
        _, status = os.waitpid(helper, 0)
        with ours:
            said = ours.recv(4096).decode() if status else ""
        if status:
            return f"the one port: {said}"
        # Opened both ways, so that it never blocks, and kept open until the program has read it.
        os.write(os.open(PIPE, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC), b"\n")
        return None

    def _pid(self, client: subprocess.Popen[bytes]) -> int | None:
        give_up = time.monotonic() + _PATIENCE_S
        while client.poll() is None and time.monotonic() < give_up:
            pid = int(self._state().get("Pid", 0))
            if pid and shows(pid, PIPE_INSIDE, PIPE):
                return pid
            time.sleep(0.02)
        return None

    def _state(self) -> dict[str, Any]:
        answer = self._ask(
            "container", "inspect", "--format", "{{json .State}}", self._order["name"]
        )
        try:
            state: dict[str, Any] = json.loads(answer)
        except ValueError:
            return {}
        return state

    def _ask(self, *words: str) -> bytes:
        done = subprocess.run(  # noqa: S603  # the engine, and names of our own
            [self._order["engine"], *words],
            env=self._order["env"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        return done.stdout


def main(file: str) -> None:
    """Run the container of the order in a file, and end as its program ended.

    The current folder is the workspace's own.
    """
    order = kernel.order_in(file)
    code, about = Container(order).run()
    kernel.note(file, about)
    kernel.end_like(code)
