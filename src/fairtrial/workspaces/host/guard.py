"""The guard: forks lanes, inherits what a killed lane leaves, and dies with its runner."""

from __future__ import annotations

import gc
import os
import select
import signal
import socket

from . import descendants, lane, wire

_LOST_RUNNER_CHECK_MS = 500


class Guard:
    """Serves one runner until it is gone."""

    def __init__(self, control: socket.socket, runner_pid: int) -> None:
        self._control = control
        self._receiver = wire.Receiver(control)
        self._runner_pid = runner_pid
        self._runner = descendants.open_process(runner_pid)
        self._wakeup = lane.wake_on_child()
        self._lanes: dict[int, int] = {}  # process id -> number
        self._poll = select.poll()
        for fd in (control.fileno(), self._wakeup, self._runner):
            if fd >= 0:
                self._poll.register(fd, select.POLLIN)

    def serve(self) -> None:
        """Fork lanes and clean up after them until the runner is gone."""
        # Where a process cannot be watched, the end of the socket says it, and this look.
        timeout = None if self._runner >= 0 else _LOST_RUNNER_CHECK_MS
        while os.getppid() == self._runner_pid:
            ready = {fd for fd, _ in self._poll.poll(timeout)}
            if self._runner in ready:
                return
            if self._wakeup in ready:
                lane.drain(self._wakeup)
                self._clean_up()
            if self._control.fileno() in ready:
                try:
                    for frame in self._receiver.receive():
                        self._fork(frame)
                except EOFError:
                    return

    def _fork(self, frame: wire.Frame) -> None:
        number, _ = wire.LANE.unpack(frame.head)
        sock = socket.socket(fileno=frame.lane)
        try:
            pid = os.fork()
        except OSError:  # too many processes: the runner sees the end of this socket
            sock.close()
            wire.send(self._control, wire.GONE, wire.LANE.pack(number, 0))
            return
        if pid == 0:
            self._control.close()
            os.close(self._wakeup)
            lane.serve(sock, self._runner)
        sock.close()
        self._lanes[pid] = number

    def _clean_up(self) -> None:
        reaper = descendants.Reaper()
        reaper.reap()
        gone = [self._lanes.pop(pid) for pid in reaper.ended if pid in self._lanes]
        if gone:  # what such a lane ran is ours now
            _, survivors = descendants.kill_all(reaper, spare=self._lanes)
            gone += [self._lanes.pop(pid) for pid in reaper.ended if pid in self._lanes]
            for number in gone:
                wire.send(self._control, wire.GONE, wire.LANE.pack(number, survivors))


def main(runner_pid: int) -> None:
    """Be the guard of a runner whose socket is standard input."""
    for name in ("SIGHUP", "SIGINT", "SIGTERM", "SIGQUIT"):  # the runner decides, not a terminal
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    control = socket.socket(fileno=os.dup(0))
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    descendants.adopt_orphans()
    descendants.Reaper().reap()  # loads what it needs once, for all lanes
    gc.freeze()
    try:
        Guard(control, runner_pid).serve()
    finally:
        descendants.kill_all(descendants.Reaper())
