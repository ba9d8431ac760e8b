"""The parts of the host workspace on their own."""

from __future__ import annotations

import asyncio
import math
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fairtrial.model.errors import TaskError, Undecidable
from fairtrial.ports import ProcessCall
from fairtrial.workspaces.host import descendants, outcome, wire
from fairtrial.workspaces.host.client import HostWorkspace


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    one, other = wire.pair()
    with one, other:
        yield one, other


class TestWire:
    @pytest.mark.parametrize("head_size", [0, 100, wire.INLINE, 2_000_000])
    @pytest.mark.parametrize("size", [0, 100, wire.INLINE, 3_000_000])
    def test_a_frame_of_any_size_fits_into_an_empty_socket(
        self, ends: tuple[socket.socket, socket.socket], head_size: int, size: int
    ) -> None:
        head, data = os.urandom(head_size), os.urandom(size)
        ends[0].settimeout(0)
        wire.send(ends[0], wire.RUN, head, wire.Payload(data))
        receiver = wire.Receiver(ends[1])
        frames: list[wire.Frame] = []
        while not frames:
            frames += receiver.receive()
        (frame,) = frames
        assert (frame.kind, frame.head, frame.payload.read()) == (wire.RUN, head, data)
        frame.payload.close()

    def test_frames_that_arrive_together_or_in_pieces_are_told_apart(
        self, ends: tuple[socket.socket, socket.socket]
    ) -> None:
        wire.send(ends[0], wire.RUN, b"one", wire.Payload(b"1"))
        wire.send(ends[0], wire.CANCEL)
        wire.send(ends[0], wire.RUN, b"two", wire.Payload(b"2"))
        stream = ends[1].recv(65536)
        whole = wire.Receiver(ends[1])
        ends[0].sendall(stream)
        heads = [(frame.kind, frame.head) for frame in whole.receive()]
        pieces = wire.Receiver(ends[1])
        again = []
        for at in range(len(stream)):
            ends[0].sendall(stream[at : at + 1])
            again += [(frame.kind, frame.head) for frame in pieces.receive()]
        assert heads == again == [(wire.RUN, b"one"), (wire.CANCEL, b""), (wire.RUN, b"two")]

    def test_the_end_is_told(self, ends: tuple[socket.socket, socket.socket]) -> None:
        ends[0].close()
        with pytest.raises(EOFError):
            list(wire.Receiver(ends[1]).receive())

    def test_requests_survive_the_way(self) -> None:
        argv, env = [b"prog", b"", b"\xff \n"], [b"A=", b"B=\xfe=x"]
        there = wire.Request.unpack(wire.Request(argv, env, b"/x", math.inf, 5).pack())
        assert (there.argv, there.env, there.cwd) == (argv, env, b"/x")
        assert (there.time_limit, there.max_output) == (math.inf, 5)


class TestDescendants:
    def test_proc_and_ps_tell_the_same(self) -> None:
        with subprocess.Popen(["sleep", "60"], start_new_session=True) as child:
            try:
                seen = [
                    [
                        (process.pid, process.parent, process.group, process.dead)
                        for process in find()
                        if process.pid == child.pid
                    ]
                    for find in (descendants.processes_of_proc, descendants.processes_of_ps)
                ]
            finally:
                child.kill()
        assert seen == [[(child.pid, os.getpid(), child.pid, False)]] * 2

    def test_a_spared_child_and_all_below_it_live(self) -> None:
        source = (
            "import os\n"
            "from fairtrial.workspaces.host import descendants\n"
            "descendants.adopt_orphans()\n"
            "spared = os.spawnl(os.P_NOWAIT, '/bin/sh', 'sh', '-c', 'sleep 60 & wait')\n"
            "other = os.spawnl(os.P_NOWAIT, '/bin/sleep', 'sleep', '60')\n"
            "while len(descendants.below(os.getpid())) < 3: pass\n"
            "killed, left = descendants.kill_all(descendants.Reaper(), {spared})\n"
            "assert (killed, left) == ({other}, 0), killed\n"
            "assert len(descendants.below(spared)) == 1\n"
            "killed, left = descendants.kill_all(descendants.Reaper())\n"
            "assert (len(killed), left) == (2, 0), killed\n"
        )
        subprocess.run([sys.executable, "-c", source], check=True, timeout=30)


class TestOutcome:
    CALL = ProcessCall(("tool",), b"", {"PATH": "/bin"}, Path("/"))

    def frame(self, done: wire.Done) -> wire.Frame:
        return wire.Frame(wire.DONE, done.pack(), wire.Payload(b"out"), -1)

    def test_processes_that_cannot_be_killed_make_it_undecidable(self) -> None:
        done = wire.Done()
        done.survivors = 2
        with pytest.raises(Undecidable, match="2 processes of 'tool' cannot be killed"):
            outcome.result(self.CALL, self.frame(done))

    def test_a_tail_does_not_begin_within_a_character(self) -> None:
        done = wire.Done()
        done.flags = wire.TAIL_CUT
        done.stderr_tail = b"\xa9\xa9 rest \xff"
        assert outcome.result(self.CALL, self.frame(done)).usage.stderr_tail == " rest \ufffd"

    def test_a_defect_of_a_lane_is_shown(self) -> None:
        frame = wire.Frame(wire.CRASHED, b"Traceback: boom", wire.Payload(), -1)
        with pytest.raises(Undecidable, match="boom"):
            outcome.result(self.CALL, frame)

    def test_a_full_machine_is_not_the_tasks_fault(self) -> None:
        head = wire.pack_failure(wire.NOT_STARTED, 11, b"/bin/tool")
        with pytest.raises(Undecidable, match="run less at once"):
            outcome.result(self.CALL, wire.Frame(wire.FAILED, head, wire.Payload(), -1))

    @pytest.mark.parametrize("env", [{"": "x"}, {"A=B": "x"}])
    def test_impossible_variables_are_refused(self, env: dict[str, str]) -> None:
        with pytest.raises(TaskError, match="rename it"):
            outcome.request(ProcessCall(("tool",), b"", env, Path("/")))


def test_a_program_cannot_run_in_a_closed_workspace() -> None:
    with pytest.raises(Undecidable, match="closed"):
        asyncio.run(HostWorkspace(1).run(TestOutcome.CALL))


def test_the_guard_loads_nothing_heavy() -> None:
    folder = Path(wire.__file__).parent
    source = (
        "import sys\n"
        "package = type(sys)('fairtrial_host')\n"
        "package.__path__ = [sys.argv[1]]\n"
        "sys.modules['fairtrial_host'] = package\n"
        "import fairtrial_host.guard\n"
        "heavy = {'asyncio', 'subprocess', 'typing', 're', 'json', 'dataclasses', 'pathlib'}\n"
        "print(sorted(heavy & set(sys.modules)), [n for n in sys.modules if n == 'fairtrial'])\n"
    )
    command = [sys.executable, "-I", "-S", "-c", source, str(folder)]
    assert subprocess.run(command, check=True, capture_output=True).stdout == b"[] []\n"


def test_peak_memory_of_a_lane_is_small() -> None:
    """A program's peak is never below its lane's."""
    workspace = HostWorkspace(1)

    async def work() -> int:
        await workspace.open()
        try:
            result = await workspace.run(ProcessCall(("/bin/true",), b"", {}, Path("/")))
            return result.usage.max_rss_bytes
        finally:
            await workspace.close()

    assert asyncio.run(work()) < 20e6
    assert signal.getsignal(signal.SIGCHLD) == signal.SIG_DFL  # the runner's own is untouched


def test_without_subreapers_the_process_group_and_the_tree_are_killed(tmp_path: Path) -> None:
    """Stands for systems other than Linux: the same code, in a process that adopts no orphans."""
    source = (
        "import math, os, select, sys\n"
        "from fairtrial.workspaces.host import lane, wire\n"
        "from fairtrial.workspaces.host.program import Program\n"
        "wakeup, poll, events = lane.wake_on_child(), select.poll(), {}\n"
        "poll.register(wakeup, select.POLLIN)\n"
        "for script, limit in (('sleep 61.5 & echo out', math.inf),\n"
        "                      ('trap : TERM; setsid sleep 61.5; wait', 0.3)):\n"
        "    program = Program(poll, events, adopts=False)\n"
        "    events[wakeup] = lambda: (lane.drain(wakeup), program.child_ended())\n"
        "    argv, env = [b'sh', b'-c', script.encode()], [b'PATH=/bin:/usr/bin']\n"
        "    request = wire.Request(argv, env, os.getcwdb(), limit, 1000)\n"
        "    done, output = program.run(request, wire.Payload())\n"
        "    print(output.read(), bool(done.flags & wire.TIMED_OUT))\n"
    )
    command = [sys.executable, "-c", source]
    result = subprocess.run(command, check=True, capture_output=True, cwd=tmp_path, timeout=30)
    assert result.stdout.splitlines() == [b"b'out\\n' False", b"b'' True"]
    left = [p for p in descendants.processes() if not p.dead and b"61.5" in arguments(p.pid)]
    assert left == []


def arguments(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []
