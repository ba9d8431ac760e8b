"""A lane: a small process that runs one program at a time and answers to the runner alone."""

from __future__ import annotations

import os
import select
import signal
import socket
from collections.abc import Callable

from . import descendants, wire
from .program import Program, RunnerGoneError
from .spawn import StartError


def wake_on_child() -> int:
    """Return a descriptor that becomes readable when a child of this process ends."""
    readable, writable = os.pipe()
    os.set_blocking(readable, False)
    os.set_blocking(writable, False)
    # Python writes to the descriptor only for signals that have a handler of Python's.
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    inherited = signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
    if inherited >= 0:  # the guard's, in a lane
        os.close(inherited)
    return readable


def drain(fd: int) -> None:
    """Empty the descriptor of `wake_on_child`."""
    try:
        os.read(fd, 4096)
    except BlockingIOError:
        return


class Lane:
    """Serves one runner until it is gone."""

    def __init__(self, sock: socket.socket, runner: int) -> None:
        self._sock = sock
        self._receiver = wire.Receiver(sock)
        self._adopts = descendants.adopt_orphans()
        self._wakeup = wake_on_child()
        self._poll = select.poll()
        self._events: dict[int, Callable[[], None]] = {}
        self._program: Program | None = None
        self._requests: list[wire.Frame] = []
        for fd, event in (
            (sock.fileno(), self._hear),
            (self._wakeup, self._child_ended),
            (runner, self._runner_died),
        ):
            if fd >= 0:
                self._poll.register(fd, select.POLLIN)
                self._events[fd] = event

    def serve(self) -> None:
        """Run what the runner asks for.

        Raises:
            RunnerGoneError: the runner has died or closed its side; nothing is left running.
        """
        while True:
            for fd, _ in self._poll.poll():
                self._events[fd]()
            while self._requests:
                frame = self._requests.pop(0)
                try:
                    self._run(frame)
                finally:
                    frame.payload.close()

    def _run(self, frame: wire.Frame) -> None:
        program = Program(self._poll, self._events, adopts=self._adopts)
        self._program = program
        try:
            done, output = program.run(wire.Request.unpack(frame.head), frame.payload)
        except StartError as problem:
            failure = wire.pack_failure(problem.stage, problem.error, problem.path)
            wire.send(self._sock, wire.FAILED, failure)
        else:
            try:
                wire.send(self._sock, wire.DONE, done.pack(), output)
            finally:
                output.close()
            if done.survivors:  # they must not be taken for the next program's
                raise RunnerGoneError
        finally:
            self._program = None
            os.chdir("/")  # hold no folder that is about to be removed

    def _hear(self) -> None:
        try:
            for frame in self._receiver.receive():
                if frame.kind == wire.RUN:
                    self._requests.append(frame)
                else:
                    self._cancel()
        except EOFError:
            self._runner_died()

    def _cancel(self) -> None:
        if self._program is not None:
            self._program.cancel()
        elif self._requests:  # it came together with its request
            self._requests.pop().payload.close()
            done = wire.Done()
            done.flags = wire.CANCELLED
            wire.send(self._sock, wire.DONE, done.pack())
        # else it came after the answer had been sent, and is for nobody

    def _child_ended(self) -> None:
        drain(self._wakeup)
        if self._program is not None:
            self._program.child_ended()

    def _runner_died(self) -> None:
        raise RunnerGoneError


def serve(sock: socket.socket, runner: int) -> None:
    """Be a lane, in a process that was forked for it. Never returns.

    Args:
        sock: The connection to the runner.
        runner: A descriptor of the runner's process, or -1.
    """
    try:
        Lane(sock, runner).serve()
    except RunnerGoneError:
        os._exit(0)
    except BaseException:  # noqa: BLE001  # a defect of ours: say it, and die with all below
        descendants.kill_all(descendants.Reaper())
        import traceback  # noqa: PLC0415  # slow to import, and hardly ever needed

        wire.send(sock, wire.CRASHED, traceback.format_exc(limit=-5).encode())
    finally:
        os._exit(70)
