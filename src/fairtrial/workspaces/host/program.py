"""One program, from its start to the death of its last descendant."""

from __future__ import annotations

import math
import os
import select
import signal
import time
from collections.abc import Callable

from . import descendants, spawn, wire

TERM_GRACE_S = 0.5
"""How long a program may take to clean up after SIGTERM, before SIGKILL."""
LINGER_S = 0.5
"""How long a child that still holds standard output may write after the program has exited.

In `exec > >(tee log)` the shell exits before `tee` has passed everything on.
"""
SETTLE_S = 0.02
"""How long a child without standard output may take to exit by itself, after the program has."""
STDERR_TAIL = 4096
_CHUNK = 60 * 1024  # below malloc's mmap threshold, and nearly a pipe
_FOREVER = math.inf


class RunnerGoneError(Exception):
    """The runner has died or closed its side."""


class Output:
    """The head of a program's standard output: in memory while it is small, else in a file."""

    __slots__ = ("_fd", "_limit", "_parts", "size", "truncated")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._fd = -1
        self.size = 0
        self.truncated = False

    def add(self, data: bytes) -> None:
        """Keep `data`, or what of it is within the limit."""
        room = self._limit - self.size
        if len(data) > room:
            self.truncated = True
            data = data[:room]
        self.size += len(data)
        if self._fd >= 0:
            wire.write_all(self._fd, data)
            return
        self._parts.append(data)
        if self.size > wire.INLINE:
            self._fd = wire.anonymous_file()
            wire.write_all(self._fd, b"".join(self._parts))
            self._parts.clear()

    def payload(self) -> wire.Payload:
        """Return what was kept; the caller closes it."""
        if self._fd < 0:
            return wire.Payload(b"".join(self._parts))
        return wire.Payload(fd=self._fd, size=self.size)


class Program:
    """Runs one program. `poll` already watches the descriptors in `events`."""

    def __init__(
        self, poll: select.poll, events: dict[int, Callable[[], None]], *, adopts: bool
    ) -> None:
        self._poll = poll
        self._events = events
        self._adopts = adopts
        self._reaper = descendants.Reaper()
        self._pid = -1
        self._alive = self._others = False
        self._flags = 0
        self._killed = self._survivors = 0
        self._started = self._ended = 0.0
        self._deadline = _FOREVER
        self._stdin = self._stdout = self._stderr = -1
        self._input = wire.Payload()
        self._written = 0
        self._tail = b""
        self._output = Output(0)

    def run(self, request: wire.Request, stdin: wire.Payload) -> tuple[wire.Done, wire.Payload]:
        """Run the program to its end; return what came of it and its standard output.

        Raises:
            spawn.StartError: it did not start.
            RunnerGoneError: the runner has died meanwhile.
        """
        try:
            self._start(request, stdin)
            while self._goes_on():
                self._wait()
        finally:
            self._kill()
            self._close()
        return self._done(), self._output.payload()

    def cancel(self) -> None:
        """End the program: it may clean up for `TERM_GRACE_S`."""
        self._flags |= wire.CANCELLED
        self._terminate()

    def child_ended(self) -> None:
        """Reap, and notice the end of the program itself."""
        self._others = self._reaper.reap()
        if self._alive and self._pid in self._reaper.ended:
            self._alive = False
            self._ended = time.monotonic()
            if self._flags & (wire.TIMED_OUT | wire.CANCELLED):
                self._deadline = 0.0
            else:
                self._deadline = self._ended + (SETTLE_S if self._stdout < 0 else LINGER_S)

    def _start(self, request: wire.Request, stdin: wire.Payload) -> None:
        self._output = Output(request.max_output)
        self._input = stdin
        self._started = self._ended = time.monotonic()
        self._deadline = self._started + request.time_limit
        child_stdin, self._stdin = os.pipe()
        self._stdout, child_stdout = os.pipe()
        self._stderr, child_stderr = os.pipe()
        os.set_blocking(self._stdin, False)
        try:
            self._pid = spawn.spawn(request, child_stdin, child_stdout, child_stderr)
            self._alive = self._others = True
        finally:
            os.close(child_stdin)
            os.close(child_stdout)
            os.close(child_stderr)
        self._watch(self._stdout, select.POLLIN, self._read_stdout)
        self._watch(self._stderr, select.POLLIN, self._read_stderr)
        self._write_stdin()  # most inputs fit into the pipe at once
        if self._stdin >= 0:
            self._watch(self._stdin, select.POLLOUT, self._write_stdin)

    def _goes_on(self) -> bool:
        if self._survivors:
            return False
        if self._alive:
            return True
        # It has exited. What is left of it may still pass output on, until the deadline.
        return self._others and time.monotonic() < self._deadline

    def _wait(self) -> None:
        rest = self._deadline - time.monotonic()
        # Rounded up, and one wait is at most a day, because poll takes an int of milliseconds.
        timeout = None if rest == _FOREVER else math.ceil(min(max(rest, 0.0), 86400.0) * 1000)
        for fd, _ in self._poll.poll(timeout):
            event = self._events.get(fd)  # an earlier one of this round may have closed it
            if event is not None:
                event()
        if self._alive and time.monotonic() >= self._deadline:
            self._over_deadline()

    def _over_deadline(self) -> None:
        if self._flags & (wire.TIMED_OUT | wire.CANCELLED):  # SIGTERM was sent before
            self._kill()
        else:
            self._flags |= wire.TIMED_OUT
            self._terminate()

    def _terminate(self) -> None:
        if self._alive:  # not reaped, so the number is still its own
            descendants.signal_group(self._pid, signal.SIGTERM)
            self._deadline = time.monotonic() + TERM_GRACE_S
        else:
            self._deadline = 0.0

    def _read_stdout(self) -> None:
        data = os.read(self._stdout, _CHUNK)
        if not data:
            self._stdout = self._forget(self._stdout)
            if not self._alive:
                self._deadline = min(self._deadline, time.monotonic() + SETTLE_S)
            return
        self._output.add(data)
        if self._output.truncated:
            self._kill()  # first, or it could die of a broken pipe
            self._stdout = self._forget(self._stdout)

    def _read_stderr(self) -> None:
        data = os.read(self._stderr, _CHUNK)
        if not data:
            self._stderr = self._forget(self._stderr)
            return
        self._tail += data
        if len(self._tail) > STDERR_TAIL:
            self._flags |= wire.TAIL_CUT
            self._tail = self._tail[-STDERR_TAIL:]

    def _write_stdin(self) -> None:
        source, size = self._input, self._input.size
        while self._written < size:
            if source.fd < 0:
                chunk = memoryview(source.data)[self._written : self._written + _CHUNK]
            else:
                chunk = memoryview(os.pread(source.fd, _CHUNK, self._written))
            try:
                self._written += os.write(self._stdin, chunk)
            except BlockingIOError:
                return
            except BrokenPipeError:  # it does not want more; that is its right
                break
        self._stdin = self._forget(self._stdin)

    def _kill(self) -> None:
        """Kill the program and all below it, or all that is left of it."""
        if self._pid < 0 or self._survivors:
            return
        if self._others:
            killed, self._survivors = descendants.kill_all(self._reaper)
            self._killed += len(killed - {self._pid})
            self.child_ended()
        if not self._adopts:  # orphans are nobody's; at least their group is known
            descendants.signal_group(self._pid, signal.SIGKILL)

    def _close(self) -> None:
        """Take what is left in the pipes, and close them.

        All writers are dead, so a pipe is at its end or empty; a descriptor that was handed to a
        stranger must not keep us waiting.
        """
        for attribute, read in (("_stdout", self._read_stdout), ("_stderr", self._read_stderr)):
            while (fd := getattr(self, attribute)) >= 0 and select.select([fd], [], [], 0)[0]:
                read()
        for fd in (self._stdin, self._stdout, self._stderr):
            self._forget(fd)
        self._stdin = self._stdout = self._stderr = -1

    def _watch(self, fd: int, events: int, then: Callable[[], None]) -> None:
        self._poll.register(fd, events)
        self._events[fd] = then

    def _forget(self, fd: int) -> int:
        if fd >= 0:
            if self._events.pop(fd, None) is not None:
                self._poll.unregister(fd)
            os.close(fd)
        return -1

    def _done(self) -> wire.Done:
        done = wire.Done()
        status = self._reaper.ended.get(self._pid)
        done.returncode = -signal.SIGKILL if status is None else os.waitstatus_to_exitcode(status)
        done.cpu_s = self._reaper.cpu_s
        done.max_rss_bytes = self._reaper.max_rss_bytes
        ended = time.monotonic() if self._alive else self._ended
        done.duration_s = ended - self._started
        done.flags = self._flags | (wire.TRUNCATED if self._output.truncated else 0)
        done.killed = self._killed
        done.survivors = self._survivors
        done.stderr_tail = self._tail
        return done
