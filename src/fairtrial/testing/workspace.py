"""What every workspace must do, as a pytest class: subclass it and give it a `workspace` fixture.

`Brood` makes a program with a brood of descendants that do what they can to survive it, and tells
which of them are alive.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import uuid
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest

from fairtrial.model.errors import TaskError, Undecidable
from fairtrial.ports import ProcessCall, ProcessResult, Workspace

_T = TypeVar("_T")
PATIENCE_S = 20.0
"""How long a test waits for what must happen at once."""

_BROOD = """
import os, signal, sys, time
marker, size, then = sys.argv[1], int(sys.argv[2]), sys.argv[3]
signal.signal(signal.SIGTERM, signal.SIG_IGN)
ready, born = os.pipe()
for number in range(size):
    if os.fork() == 0:
        if number % 3 == 1: os.setpgid(0, 0)
        if number % 3 == 2: os.setsid()
        if number % 2 and os.fork() != 0: os._exit(0)
        if number % 4 == 3: os.setsid()
        os.write(born, b"x")
        if number % 5 == 4: os.execve("/bin/sleep", ["sleep", marker], {})
        while True: signal.pause()
left = size
while left: left -= len(os.read(ready, left))
open(marker, "w").close()
while then == "stay": signal.pause()
"""


class Brood:
    """A program that forks descendants in groups and sessions of their own, orphans among them.

    All ignore SIGTERM and hold its standard output open; some have replaced themselves by another
    program with an empty environment.
    """

    def __init__(self, folder: Path, size: int = 20) -> None:
        self.marker = str(uuid.uuid4().int)[:16]  # also a number of seconds that `sleep` takes
        self.folder = folder
        self.size = size

    def argv(self, then: str = "stay") -> tuple[str, ...]:
        """Return the program; with `exit` it ends once all have been born."""
        return (sys.executable, "-I", "-S", "-c", _BROOD, self.marker, str(self.size), then)

    def born(self) -> bool:
        """Whether all descendants are there."""
        return (self.folder / self.marker).exists()

    def alive(self) -> list[int]:
        """Return the living processes of the brood, of which Linux knows."""
        return [
            int(entry.name)
            for entry in Path("/proc").iterdir()
            if entry.name.isdigit() and self.marker in _arguments(entry)
        ]


def _arguments(entry: Path) -> list[str]:
    try:  # a zombie has no arguments
        return (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return []


async def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds.

    Raises:
        TimeoutError: it does not within `PATIENCE_S`.
    """
    async with asyncio.timeout(PATIENCE_S):
        while not condition():  # noqa: ASYNC110  # it is about other processes
            await asyncio.sleep(0.005)


def program(
    *argv: str,
    cwd: Path,
    stdin: bytes = b"",
    time_limit_s: float | None = PATIENCE_S,
    max_output_bytes: int = 16 * 1024 * 1024,
) -> ProcessCall:
    """Return a call with nothing but a PATH in its environment."""
    env = {"PATH": os.defpath}
    return ProcessCall(argv, stdin, env, cwd, time_limit_s, max_output_bytes)


def python(source: str, *arguments: str, **options: Any) -> ProcessCall:
    """Return a call that runs Python source."""
    return program(sys.executable, "-I", "-S", "-c", source, *arguments, **options)


def use(workspace: Workspace, work: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
    """Run `work` in an open workspace on a loop of its own."""

    async def session() -> _T:
        await workspace.open()
        try:
            return await work()
        finally:
            await workspace.close()

    return asyncio.run(session())


def run(workspace: Workspace, call: ProcessCall) -> ProcessResult:
    """Run one program in a workspace of its own."""
    return use(workspace, lambda: workspace.run(call))


class WorkspaceContract:
    """The contract of `Workspace`; the fixture `workspace` returns one with four slots, closed."""

    def test_standard_input_goes_in_and_standard_output_comes_out(
        self, workspace: Workspace, tmp_path: Path
    ) -> None:
        data = bytes(range(256)) * 40
        result = run(workspace, program("cat", stdin=data, cwd=tmp_path))
        assert result.stdout == data
        assert (result.usage.exit_status, result.usage.signal) == (0, None)
        assert (result.timed_out, result.truncated, result.killed) == (False, False, 0)

    def test_megabytes_both_ways_do_not_block(self, workspace: Workspace, tmp_path: Path) -> None:
        data = os.urandom(5_000_000)
        assert run(workspace, program("cat", stdin=data, cwd=tmp_path)).stdout == data

    def test_a_hundred_megabytes_come_out(self, workspace: Workspace, tmp_path: Path) -> None:
        call = program(
            "head", "-c", "100000000", "/dev/zero", cwd=tmp_path, max_output_bytes=100_000_000
        )

        async def work() -> tuple[int, bool]:  # asyncio would format the whole output
            result = await workspace.run(call)
            return len(result.stdout), result.truncated

        assert use(workspace, work) == (100_000_000, False)

    def test_a_program_need_not_read_its_input(self, workspace: Workspace, tmp_path: Path) -> None:
        result = run(workspace, program("echo", "done", stdin=b"x" * 5_000_000, cwd=tmp_path))
        assert result.stdout == b"done\n"
        assert result.usage.exit_status == 0

    def test_input_ends(self, workspace: Workspace, tmp_path: Path) -> None:
        assert run(workspace, program("cat", cwd=tmp_path)).stdout == b""

    def test_the_exit_status_is_reported(self, workspace: Workspace, tmp_path: Path) -> None:
        result = run(workspace, program("sh", "-c", "exit 37", cwd=tmp_path))
        assert (result.usage.exit_status, result.usage.signal) == (37, None)

    def test_the_signal_that_ended_it_is_reported(
        self, workspace: Workspace, tmp_path: Path
    ) -> None:
        result = run(workspace, program("sh", "-c", "kill -SEGV $$", cwd=tmp_path))
        assert (result.usage.exit_status, result.usage.signal) == (None, 11)

    def test_standard_error_is_kept_apart_and_decoded(
        self, workspace: Workspace, tmp_path: Path
    ) -> None:
        call = program("sh", "-c", r"printf 'a\377b' >&2; echo out", cwd=tmp_path)
        result = run(workspace, call)
        assert result.stdout == b"out\n"
        assert result.usage.stderr_tail == "a\ufffdb"

    def test_the_last_4_kib_of_standard_error_are_kept(
        self, workspace: Workspace, tmp_path: Path
    ) -> None:
        source = (
            "import os\nfor _ in range(3000): os.write(2, '\u00e9'.encode() * 100)\n"
            "os.write(2, b'.')"
        )
        tail = run(workspace, python(source, cwd=tmp_path)).usage.stderr_tail
        assert tail == "\u00e9" * 2047 + "."  # not a half character at its start

    def test_it_gets_the_environment_of_the_call_and_no_more(
        self, workspace: Workspace, tmp_path: Path
    ) -> None:
        env = {"NAME": "a=b\nc", "EMPTY": "", "BIG": "x" * 100_000}
        call = ProcessCall(("/usr/bin/env", "-0"), b"", env, tmp_path)
        stdout = run(workspace, call).stdout.decode().split("\0")
        assert sorted(stdout[:-1]) == sorted(f"{name}={value}" for name, value in env.items())

    def test_it_starts_in_the_working_directory(self, workspace: Workspace, tmp_path: Path) -> None:
        (tmp_path / "tool.sh").write_text("#!/bin/sh\npwd\n")
        (tmp_path / "tool.sh").chmod(0o755)
        result = run(workspace, program("./tool.sh", cwd=tmp_path))
        assert Path(result.stdout.decode().strip()).samefile(tmp_path)

    def test_programs_are_looked_up_in_the_path_of_the_call(
        self, workspace: Workspace, tmp_path: Path
    ) -> None:
        tool = tmp_path / "fairtrial-tool"
        tool.write_text("#!/bin/sh\necho found\n")
        tool.chmod(0o755)
        env = {"PATH": f"{tmp_path / 'none'}:{tmp_path}"}
        call = ProcessCall(("fairtrial-tool",), b"", env, tmp_path)
        assert run(workspace, call).stdout == b"found\n"

    @pytest.mark.parametrize(
        ("argv", "cwd", "words"),
        [
            ((), ".", ["empty"]),
            (("fairtrial-none",), ".", ["fairtrial-none", "PATH", "install it"]),
            (("./none",), ".", ["./none", "does not exist"]),
            (("./data",), ".", ["./data", "not executable", "chmod +x"]),
            (("./bare",), ".", ["./bare", "first line"]),
            (("./lost",), ".", ["./lost", "interpreter"]),
            (("true",), "none", ["working directory", "none"]),
            (("true",), "data", ["working directory", "data"]),
            (("true", "x" * 3_000_000), ".", ["too long", "standard input"]),
            (("true", "a\0b"), ".", ["NUL"]),
        ],
    )
    def test_what_does_not_start_is_a_task_error_that_says_what_to_do(
        self,
        workspace: Workspace,
        tmp_path: Path,
        argv: tuple[str, ...],
        cwd: str,
        words: list[str],
    ) -> None:
        for name, text, mode in (
            ("data", "text", 0o644),
            ("bare", "echo without a first line", 0o755),
            ("lost", "#!/none/interpreter\n", 0o755),
        ):
            (tmp_path / name).write_text(text)
            (tmp_path / name).chmod(mode)

        async def both() -> bytes:
            with pytest.raises(TaskError) as problem:
                await workspace.run(program(*argv, cwd=tmp_path / cwd))
            assert all(word in str(problem.value) for word in words), str(problem.value)
            return (await workspace.run(program("echo", "next", cwd=tmp_path))).stdout

        assert use(workspace, both) == b"next\n"

    def test_the_time_limit_ends_it_and_keeps_its_output(
        self, workspace: Workspace, tmp_path: Path
    ) -> None:
        source = (
            "import os, signal\n"
            "signal.signal(signal.SIGTERM, lambda *_: (os.write(1, b' cleaned'), os._exit(3)))\n"
            "os.write(1, b'begun')\nwhile True: signal.pause()"
        )
        result = run(workspace, python(source, cwd=tmp_path, time_limit_s=1.0))
        assert result.timed_out
        assert result.stdout == b"begun cleaned"
        assert result.usage.exit_status == 3
        assert result.duration_s >= 1.0

    def test_the_time_limit_ends_what_ignores_sigterm(
        self, workspace: Workspace, tmp_path: Path
    ) -> None:
        call = program("sh", "-c", "trap '' TERM; sleep 60", cwd=tmp_path, time_limit_s=0.1)
        result = run(workspace, call)
        assert result.timed_out
        assert result.usage.signal == 9
        assert result.duration_s < PATIENCE_S

    def test_the_output_limit_ends_it(self, workspace: Workspace, tmp_path: Path) -> None:
        result = run(workspace, program("cat", "/dev/zero", cwd=tmp_path, max_output_bytes=1000))
        assert result.stdout == bytes(1000)
        assert result.truncated
        assert not result.timed_out
        assert result.usage.signal == 9

    def test_output_of_exactly_the_limit_is_whole(
        self, workspace: Workspace, tmp_path: Path
    ) -> None:
        result = run(workspace, program("echo", "123", cwd=tmp_path, max_output_bytes=4))
        assert (result.stdout, result.truncated) == (b"123\n", False)

    def test_a_background_child_with_the_output_open_does_not_hold_it_up(
        self, workspace: Workspace, tmp_path: Path
    ) -> None:
        result = run(workspace, program("sh", "-c", "sleep 60 & echo out", cwd=tmp_path))
        assert result.stdout == b"out\n"
        assert result.killed == 1
        assert result.usage.exit_status == 0
        assert result.duration_s < 5.0

    def test_a_child_may_still_pass_on_what_it_has(
        self, workspace: Workspace, tmp_path: Path
    ) -> None:
        source = "import os, time\nif os.fork() == 0: time.sleep(0.02); os.write(1, b'late')"
        assert run(workspace, python(source, cwd=tmp_path)).stdout == b"late"

    def test_what_a_program_leaves_behind_is_killed(
        self, workspace: Workspace, tmp_path: Path
    ) -> None:
        brood = Brood(tmp_path)
        left: list[int] = []

        async def work() -> ProcessResult:
            result = await workspace.run(program(*brood.argv("exit"), cwd=tmp_path))
            left.extend(brood.alive())
            return result

        result = use(workspace, work)
        assert brood.born()
        assert left == []
        assert result.killed == brood.size
        assert result.usage.exit_status == 0

    def test_nothing_outlives_the_time_limit(self, workspace: Workspace, tmp_path: Path) -> None:
        brood = Brood(tmp_path)
        left: list[int] = []

        async def work() -> ProcessResult:
            result = await workspace.run(program(*brood.argv(), cwd=tmp_path, time_limit_s=2.0))
            left.extend(brood.alive())
            return result

        result = use(workspace, work)
        assert brood.born()
        assert result.timed_out
        assert left == []

    def test_nothing_outlives_a_cancel_and_the_next_program_runs(
        self, workspace: Workspace, tmp_path: Path
    ) -> None:
        brood = Brood(tmp_path)

        async def work() -> bytes:
            call = program(*brood.argv(), cwd=tmp_path)
            task = asyncio.ensure_future(workspace.run(call))
            await until(brood.born)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert brood.alive() == []
            return (await workspace.run(program("echo", "next", cwd=tmp_path))).stdout

        assert use(workspace, work) == b"next\n"

    def test_a_second_cancel_does_not_cut_the_first_short(
        self, workspace: Workspace, tmp_path: Path
    ) -> None:
        brood = Brood(tmp_path)

        async def work() -> None:
            task = asyncio.ensure_future(workspace.run(program(*brood.argv(), cwd=tmp_path)))
            await until(brood.born)
            while not task.done():
                task.cancel()
                await asyncio.sleep(0)
            assert task.cancelled()
            assert brood.alive() == []

        use(workspace, work)

    @pytest.mark.parametrize("turns", range(6))
    def test_a_cancel_at_any_moment_leaves_a_usable_workspace(
        self, workspace: Workspace, tmp_path: Path, turns: int
    ) -> None:
        async def work() -> None:
            for _ in range(5):
                task = asyncio.ensure_future(workspace.run(program("sleep", "60", cwd=tmp_path)))
                for _ in range(turns):
                    await asyncio.sleep(0)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                assert (await workspace.run(program("echo", "b", cwd=tmp_path))).stdout == b"b\n"

        use(workspace, work)

    def test_closing_kills_what_runs(self, workspace: Workspace, tmp_path: Path) -> None:
        brood = Brood(tmp_path)

        async def work() -> None:
            task = asyncio.ensure_future(workspace.run(program(*brood.argv(), cwd=tmp_path)))
            await until(brood.born)
            await workspace.close()
            assert brood.alive() == []
            with pytest.raises(Undecidable, match="closed"):
                await task

        use(workspace, work)

    def test_it_opens_and_closes_any_number_of_times(
        self, workspace: Workspace, tmp_path: Path
    ) -> None:
        async def work() -> bytes:
            await workspace.open()
            await workspace.close()
            await workspace.close()
            await workspace.open()
            return (await workspace.run(program("echo", "again", cwd=tmp_path))).stdout

        assert use(workspace, work) == b"again\n"
        assert use(workspace, work) == b"again\n"

    def test_more_calls_than_slots_all_run(self, workspace: Workspace, tmp_path: Path) -> None:
        async def one(number: int) -> bool:
            data = b"%d" % number * 1000
            return (await workspace.run(program("cat", stdin=data, cwd=tmp_path))).stdout == data

        async def work() -> list[bool]:
            calls: list[Awaitable[bool]] = [one(number) for number in range(40)]
            return await asyncio.gather(*calls)

        assert use(workspace, work) == [True] * 40

    def test_killing_one_program_touches_no_other(
        self, workspace: Workspace, tmp_path: Path
    ) -> None:
        one, other = Brood(tmp_path, 8), Brood(tmp_path, 8)

        async def work() -> None:
            tasks = [
                asyncio.ensure_future(workspace.run(program(*brood.argv(), cwd=tmp_path)))
                for brood in (one, other)
            ]
            await until(lambda: one.born() and other.born())
            before = other.alive()
            tasks[0].cancel()
            await asyncio.wait({tasks[0]})
            assert one.alive() == []
            assert sorted(other.alive()) == sorted(before)
            assert len(before) == other.size + 1
            tasks[1].cancel()
            await asyncio.wait({tasks[1]})
            assert other.alive() == []

        use(workspace, work)

    def test_the_figures_of_use_are_plausible(self, workspace: Workspace, tmp_path: Path) -> None:
        busy = "import time\nwhile time.process_time() < 0.3: pass"
        large = "x = bytearray(100_000_000)\nfor at in range(0, len(x), 4096): x[at] = 1"

        async def work() -> tuple[ProcessResult, ProcessResult]:
            return (
                await workspace.run(python(large, cwd=tmp_path)),
                await workspace.run(python(busy, cwd=tmp_path)),
            )

        memory, cpu = use(workspace, work)
        assert 100e6 < memory.usage.max_rss_bytes < 160e6
        assert 0.3 <= cpu.usage.cpu_s < 0.6
        assert cpu.usage.max_rss_bytes < 50e6  # the program before has not left its mark
        assert cpu.duration_s >= 0.3

    def test_orphans_count_in_the_figures_of_use(
        self, workspace: Workspace, tmp_path: Path
    ) -> None:
        source = (
            "import os, time\n"
            "orphan_lives, held = os.pipe()\n"
            "if os.fork() == 0:\n"
            "    if os.fork() == 0:\n"
            "        while time.process_time() < 0.15: pass\n"
            "    os._exit(0)\n"
            "os.close(held)\n"
            "os.read(orphan_lives, 1)\n"
        )
        result = run(workspace, python(source, cwd=tmp_path))
        assert result.usage.cpu_s >= 0.1

    @pytest.mark.skipif(shutil.which("bash") is None, reason="process substitution is bash's")
    def test_process_substitution_loses_nothing(self, workspace: Workspace, tmp_path: Path) -> None:
        script = "exec > >(tee log); for i in 1 2 3; do echo $i; done"
        assert run(workspace, program("bash", "-c", script, cwd=tmp_path)).stdout == b"1\n2\n3\n"

    def test_ignored_signals_are_not_inherited(self, workspace: Workspace, tmp_path: Path) -> None:
        source = (
            "import signal\n"
            "for number in sorted(signal.valid_signals()):\n"
            "    if signal.getsignal(number) is signal.SIG_IGN: print(number.name)\n"
        )
        result = run(workspace, python(source, cwd=tmp_path))
        # Python itself ignores these two when it starts.
        assert result.stdout.split() == [b"SIGPIPE", b"SIGXFSZ"]

    @pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
    def test_a_program_gets_three_descriptors(self, workspace: Workspace, tmp_path: Path) -> None:
        result = run(workspace, program("ls", "/proc/self/fd", cwd=tmp_path))
        assert result.stdout.split() == [b"0", b"1", b"2", b"3"]  # the last one is of `ls`
