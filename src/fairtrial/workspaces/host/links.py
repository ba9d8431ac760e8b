"""The runner's side of the guard and of one lane, on an asyncio loop."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
from pathlib import Path

from fairtrial.workspaces.host import wire

# The guard's modules are loaded as a package of their own: `fairtrial` itself stays out of it.
_BOOT = """
import sys
package = type(sys)("fairtrial_host")
package.__path__ = [sys.argv[1]]
sys.modules["fairtrial_host"] = package
from fairtrial_host.guard import main
main(int(sys.argv[2]))
"""


class LaneLostError(Exception):
    """A lane ended while a program ran on it."""


class LaneLink:
    """The connection to one lane; one request at a time."""

    def __init__(self, sock: socket.socket, number: int) -> None:
        self.number = number
        self.lost = False
        self._sock = sock
        self._receiver = wire.Receiver(sock)
        self._loop = asyncio.get_running_loop()
        self._reply: asyncio.Future[wire.Frame] | None = None
        self._ended = asyncio.Event()
        sock.settimeout(0)
        self._loop.add_reader(sock, self._readable)

    @property
    def busy(self) -> bool:
        """Whether a request is not answered yet."""
        return self._reply is not None

    def ask(self, head: bytes, stdin: bytes) -> asyncio.Future[wire.Frame] | None:
        """Send a request; its answer's payload comes read into memory.

        Returns:
            The answer, or `LaneLostError` when the lane ends before it answers; None when the
            lane was already dead, so that nothing was started.

        Raises:
            OSError: this process could not send it.
        """
        try:
            wire.send(self._sock, wire.RUN, head, wire.Payload(stdin))
        except (ConnectionError, BlockingIOError):
            self.lose()
            return None
        return self.expect()

    def expect(self) -> asyncio.Future[wire.Frame]:
        """Return a new future of the outstanding answer."""
        self._reply = self._loop.create_future()
        return self._reply

    def cancel(self) -> None:
        """Ask the lane to end the program; the answer comes as for any other end."""
        try:
            wire.send(self._sock, wire.CANCEL)
        except OSError:
            self.lose()

    def hang_up(self) -> None:
        """Tell the lane to kill what it runs and to exit."""
        if not self.lost:
            with contextlib.suppress(OSError):
                self._sock.shutdown(socket.SHUT_WR)

    async def ended(self) -> None:
        """Wait until the lane is dead."""
        await self._ended.wait()

    def lose(self) -> None:
        """Close the connection for good."""
        if self.lost:
            return
        self.lost = True
        self._ended.set()
        self._loop.remove_reader(self._sock)
        self._receiver.close()
        if self._reply is not None and not self._reply.done():
            self._reply.set_exception(LaneLostError())
        self._reply = None

    def _readable(self) -> None:
        try:
            for frame in self._receiver.receive():
                payload = wire.Payload(frame.payload.read())
                frame.payload.close()
                frame.payload = payload
                if self._reply is not None and not self._reply.done():
                    self._reply.set_result(frame)
                self._reply = None
        except EOFError:
            self.lose()


class GuardLink:
    """The guard process and the connection to it."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lanes = 0
        self._gone: dict[int, asyncio.Future[int]] = {}
        self._sock, theirs = wire.pair()
        with theirs:
            try:
                self._process = _start(theirs)
            except OSError:
                self._sock.close()
                raise
        self._receiver = wire.Receiver(self._sock)
        self._sock.settimeout(0)
        self._loop.add_reader(self._sock, self._readable)
        self.lost = False

    @property
    def pid(self) -> int:
        """The guard's process id."""
        return self._process.pid

    def fork_lane(self) -> LaneLink | None:
        """Return a new lane, which may still be starting: what is sent to it waits.

        Returns:
            The lane; None when the guard was already dead.

        Raises:
            OSError: this process could not ask for it.
        """
        self._lanes += 1
        number = self._lanes
        self._gone[number] = self._loop.create_future()
        ours, theirs = wire.pair()
        with theirs:
            try:
                head = wire.LANE.pack(number, 0)
                wire.send(self._sock, wire.FORK, head, lane=theirs.fileno())
            except (ConnectionError, BlockingIOError):
                ours.close()
                self._lose()
                return None
        return LaneLink(ours, number)

    async def gone(self, lane: LaneLink, patience_s: float) -> int:
        """Wait until a lane and all below it are dead.

        Returns:
            How many processes outlived SIGKILL; 0 when the guard ended without saying.
        """
        report = self._gone[lane.number]
        await asyncio.wait({report}, timeout=patience_s)
        if report.done() and not report.cancelled():
            return report.result()
        await self._exit(patience_s)
        return 0

    async def close(self, patience_s: float) -> None:
        """End the guard and all below it, and wait for that."""
        self._lose()
        await self._exit(patience_s)

    async def _exit(self, patience_s: float) -> None:
        deadline = self._loop.time() + patience_s
        pause = 0.0005
        while self._process.poll() is None:
            if self._loop.time() > deadline:
                self._process.kill()
                self._process.wait()
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, 0.02)

    def _lose(self) -> None:
        if self.lost:
            return
        self.lost = True
        self._loop.remove_reader(self._sock)
        self._receiver.close()
        for report in self._gone.values():
            report.cancel()

    def _readable(self) -> None:
        try:
            for frame in self._receiver.receive():
                number, survivors = wire.LANE.unpack(frame.head)
                self._gone[number].set_result(survivors)
        except EOFError:
            self._lose()


def _start(sock: socket.socket) -> subprocess.Popen[bytes]:
    # Isolated and without site-packages: it starts in a third of the time, and nothing in the
    # environment or the working directory can change what it loads.
    return subprocess.Popen(  # noqa: S603  # our own interpreter and our own code
        [sys.executable, "-I", "-S", "-c", _BOOT, str(Path(__file__).parent), str(os.getpid())],
        stdin=sock.fileno(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )
