"""What is left when the runner, the guard or a lane is killed: nothing."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fairtrial.model.errors import Undecidable
from fairtrial.testing.workspace import PATIENCE_S, Brood, program, python, until, use
from fairtrial.workspaces.host import descendants
from fairtrial.workspaces.host.client import HostWorkspace

RUNNER = """
import asyncio, json, os, signal, sys
from pathlib import Path
from fairtrial.ports import ProcessCall
from fairtrial.workspaces.host.client import HostWorkspace

async def main():
    workspace = HostWorkspace(2)
    await workspace.open()
    if sys.argv[1] == "fork" and os.fork() == 0:
        while True:
            signal.pause()
    await workspace.run(ProcessCall(tuple(json.load(sys.stdin)), b"", {}, Path.cwd()))

asyncio.run(main())
"""


@contextlib.contextmanager
def running(way: str, brood: Brood) -> Iterator[int]:
    """A runner that has started a brood; all of its group are killed at the end."""
    command = [sys.executable, "-c", RUNNER, way]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, cwd=brood.folder, start_new_session=True
    ) as runner:
        assert runner.stdin is not None
        try:
            runner.stdin.write(json.dumps(brood.argv()).encode())  # its own arguments stay clean
            runner.stdin.close()
            wait_until(brood.born)
            yield runner.pid
        finally:
            os.killpg(runner.pid, signal.SIGKILL)


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.005)


def exists(pid: int) -> bool:
    return any(process.pid == pid and not process.dead for process in descendants.processes())


def guards() -> list[int]:
    """The guards that this process has started and that are alive."""
    return [
        process.pid
        for process in descendants.processes()
        if process.parent == os.getpid()
        and not process.dead
        and b"fairtrial_host" in Path(f"/proc/{process.pid}/cmdline").read_bytes()
    ]


def lanes(guard: int) -> list[int]:
    return [
        process.pid
        for process in descendants.processes()
        if process.parent == guard and not process.dead
    ]


def lane_of(brood: Brood) -> int:
    """The process that started a brood."""
    alive = set(brood.alive())
    parents = {process.parent for process in descendants.processes() if process.pid in alive}
    (lane,) = parents - alive  # of the first one and of all orphans
    return lane


@pytest.fixture
def brood(tmp_path: Path) -> Iterator[Brood]:
    brood = Brood(tmp_path)
    yield brood
    for pid in brood.alive():  # only after a failure
        kill(pid)


class TestTheRunnerIsKilled:
    @pytest.mark.parametrize("way", ["alone", "fork"])
    def test_nothing_is_left(self, brood: Brood, way: str) -> None:
        # "fork": a child of the runner has copies of all its sockets and outlives it.
        with running(way, brood) as runner:
            below = descendants.below(runner)
            ours = [p.pid for p in below if p.group != runner and not p.dead]
            assert len(ours) == brood.size + 3  # with the brood's first, the guard and the lane
            kill(runner)
            wait_until(lambda: not any(exists(pid) for pid in ours))
            assert brood.alive() == []

    def test_nothing_is_left_when_the_guard_was_killed_before(self, brood: Brood) -> None:
        with running("alone", brood) as runner:
            lane = lane_of(brood)
            (guard,) = lanes(runner)
            kill(guard)
            wait_until(lambda: not exists(guard))
            assert len(brood.alive()) == brood.size + 1  # the lane goes on
            kill(runner)
            wait_until(lambda: not exists(lane))
            assert brood.alive() == []


class TestALaneIsKilled:
    def test_its_call_is_undecidable_and_nothing_is_left(
        self, brood: Brood, tmp_path: Path
    ) -> None:
        workspace = HostWorkspace(2)
        other = Brood(tmp_path, 5)

        async def work() -> bytes:
            task = asyncio.ensure_future(workspace.run(program(*brood.argv(), cwd=tmp_path)))
            bystander = asyncio.ensure_future(workspace.run(program(*other.argv(), cwd=tmp_path)))
            await until(lambda: brood.born() and other.born())
            kill(lane_of(brood))
            with pytest.raises(Undecidable, match="killed from outside"):
                await task
            assert brood.alive() == []
            assert len(other.alive()) == other.size + 1
            output = (await workspace.run(program("echo", "next", cwd=tmp_path))).stdout
            bystander.cancel()
            await asyncio.wait({bystander})
            assert other.alive() == []
            return output

        assert use(workspace, work) == b"next\n"

    def test_a_cancel_at_that_moment_still_waits_until_nothing_is_left(
        self, brood: Brood, tmp_path: Path
    ) -> None:
        workspace = HostWorkspace(1)

        async def work() -> None:
            task = asyncio.ensure_future(workspace.run(program(*brood.argv(), cwd=tmp_path)))
            await until(brood.born)
            kill(lane_of(brood))
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert brood.alive() == []

        use(workspace, work)

    def test_an_idle_one_is_replaced(self, tmp_path: Path) -> None:
        workspace = HostWorkspace(1)

        async def work() -> None:
            for _ in range(3):
                result = await workspace.run(program("echo", "a", cwd=tmp_path))
                assert result.stdout == b"a\n"
                (guard,) = guards()
                (lane,) = lanes(guard)
                kill(lane)
                await until(lambda lane=lane: not exists(lane))  # type: ignore[misc]

        use(workspace, work)


class TestTheGuardIsKilled:
    def test_running_programs_end_well_and_the_next_get_a_new_guard(
        self, brood: Brood, tmp_path: Path
    ) -> None:
        workspace = HostWorkspace(2)

        async def work() -> None:
            call = program(*brood.argv("exit"), cwd=tmp_path)
            held = program("sh", "-c", "while ! [ -e go ]; do sleep 0.01; done", cwd=tmp_path)
            task = asyncio.ensure_future(workspace.run(held))
            await until(lambda: bool(guards()) and bool(lanes(guards()[0])))
            (first,) = guards()
            old = lanes(first)
            kill(first)
            await until(lambda: not exists(first))
            result = await workspace.run(call)
            assert (result.killed, brood.alive()) == (brood.size, [])
            (second,) = guards()
            assert second != first
            (tmp_path / "go").touch()
            assert (await task).usage.exit_status == 0
            await until(lambda: not any(exists(pid) for pid in old))  # nobody watches over it

        use(workspace, work)
        assert guards() == []

    def test_closing_then_leaves_nothing(self, brood: Brood, tmp_path: Path) -> None:
        workspace = HostWorkspace(1)

        async def work() -> None:
            task = asyncio.ensure_future(workspace.run(program(*brood.argv(), cwd=tmp_path)))
            await until(brood.born)
            (guard,) = guards()
            lane = lane_of(brood)
            kill(guard)
            await workspace.close()
            assert brood.alive() == []
            await until(lambda: not exists(lane))
            with pytest.raises(Undecidable):
                await task

        use(workspace, work)

    def test_guard_and_lane_killed_together_end_the_call(self, tmp_path: Path) -> None:
        workspace = HostWorkspace(1)
        brood = Brood(tmp_path, 1)

        async def work() -> None:
            task = asyncio.ensure_future(workspace.run(program(*brood.argv(), cwd=tmp_path)))
            await until(brood.born)
            lane, (guard,) = lane_of(brood), guards()
            kill(guard)
            kill(lane)
            with pytest.raises(Undecidable):
                await task
            for pid in brood.alive():  # the one hole of this level: nobody was left to do it
                kill(pid)
            result = await workspace.run(program("echo", "next", cwd=tmp_path))
            assert result.stdout == b"next\n"

        use(workspace, work)


def test_a_terminals_signals_do_not_reach_guard_and_lanes(tmp_path: Path) -> None:
    workspace = HostWorkspace(1)

    async def work() -> None:
        await workspace.run(program("true", cwd=tmp_path))
        (guard,) = guards()
        helpers = [guard, *lanes(guard)]
        assert len(helpers) == 2
        assert all(os.getsid(pid) == guard for pid in helpers)
        for pid in helpers:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                os.kill(pid, number)
        assert (await workspace.run(program("echo", "a", cwd=tmp_path))).stdout == b"a\n"
        assert [guard, *lanes(guard)] == helpers

    use(workspace, work)


def descriptors(process: str) -> list[Path]:
    return sorted(Path(f"/proc/{process}/fd").iterdir())


def test_closing_leaves_no_process_and_no_descriptor(tmp_path: Path) -> None:
    workspace = HostWorkspace(4)

    async def work() -> None:
        big = program("cat", stdin=b"x" * 300_000, cwd=tmp_path)
        await asyncio.gather(*[workspace.run(big) for _ in range(8)])

    use(workspace, work)
    before = descriptors("self")
    for _ in range(3):
        use(workspace, work)
    assert descriptors("self") == before
    assert guards() == []


def test_lanes_keep_no_descriptors(tmp_path: Path) -> None:
    workspace = HostWorkspace(1)

    async def work() -> None:
        calls = [
            program("cat", stdin=b"x" * 300_000, cwd=tmp_path),
            program("echo", "a", cwd=tmp_path),
            program("cat", "/dev/zero", max_output_bytes=100_000, cwd=tmp_path),
            program("sleep", "60", time_limit_s=0.05, cwd=tmp_path),
        ]
        counts = []
        for _ in range(3):
            for call in calls:
                await workspace.run(call)
            (lane,) = lanes(guards()[0])
            counts.append(descriptors(str(lane)))
        assert counts[0] == counts[1] == counts[2]

    use(workspace, work)


@pytest.mark.parametrize("step", ["pass", "os.setsid()"])
def test_a_chain_of_forks_that_never_holds_still_is_caught(tmp_path: Path, step: str) -> None:
    workspace = HostWorkspace(1)
    chain = Brood(tmp_path)  # for its marker
    source = f"import os\nwhile True:\n    if os.fork(): os._exit(0)\n    {step}"

    async def work() -> int:
        result = await workspace.run(python(source, chain.marker, cwd=tmp_path))
        assert chain.alive() == []
        return result.killed

    assert use(workspace, work) >= 1
