"""What the workspaces of every level must do, as a pytest class.

Subclass it and give it two fixtures: `wanted`, which names the level, and `opened`, which returns
an open `Workspaces` as an async context manager. Its programs need nothing but a POSIX shell.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from fairtrial.model.errors import TaskError, Undecidable, UsageError
from fairtrial.model.isolation import Guarantee, Level, Limits, Wanted
from fairtrial.ports import (
    PreparedRepo,
    ProcessCall,
    ProcessResult,
    RepoWorkspace,
    Workspace,
    Workspaces,
)

_T = TypeVar("_T")
Opened = Callable[[], AbstractAsyncContextManager[Workspaces]]
PATIENCE_S = 60.0
HOG = "dd if=/dev/zero of=/dev/null bs=300M count=1"
BOMB = "bomb() { bomb | bomb & }; bomb; sleep 0.3; echo alive"


def shell(
    text: str, stdin: bytes = b"", time_limit_s: float = PATIENCE_S, cwd: str = "."
) -> ProcessCall:
    """Return a call that runs a text in a shell."""
    env = {"PATH": os.environ.get("PATH", os.defpath)}
    return ProcessCall(("/bin/sh", "-c", text), stdin, env, Path(cwd), time_limit_s)


async def said(workspace: Workspace, text: str, stdin: bytes = b"") -> str:
    """Return what a shell text prints; it must succeed."""
    result = await workspace.run(shell(text, stdin))
    assert result.usage.exit_status == 0, result
    return result.stdout.decode()


async def fill(folder: Path) -> None:
    """Write the files that the tests start from."""
    (folder / "README").write_text("one\n")
    (folder / "run.sh").write_text("#!/bin/sh\necho ran\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "src").mkdir()
    (folder / "src" / "a.txt").write_text("a\n")
    (folder / "src" / "b.txt").write_text("b\n")
    (folder / "link").symlink_to("src/a.txt")
    (folder / ".gitignore").write_text("*.log\n")


def with_files(opened: Opened, work: Callable[[Workspaces, PreparedRepo], Awaitable[_T]]) -> _T:
    """Run `work` with open workspaces and the files of `fill`."""

    async def session() -> _T:
        async with opened() as workspaces:
            return await work(workspaces, await workspaces.prepare("files", fill))

    return asyncio.run(session())


def inside(opened: Opened, wanted: Wanted, work: Callable[[RepoWorkspace], Awaitable[_T]]) -> _T:
    """Run `work` in one workspace with the files of `fill`."""

    async def session(workspaces: Workspaces, repo: PreparedRepo) -> _T:
        async with workspaces.workspace(repo, wanted) as workspace:
            return await work(workspace)

    return with_files(opened, session)


def _alive(marker: str) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if marker.encode() in words:
                found.append(entry.name)
    return found


class RepoWorkspaceContract:
    """The contract of `RepoWorkspace` and `Workspaces`."""

    def test_the_files_are_there(self, opened: Opened, wanted: Wanted) -> None:
        async def work(workspace: RepoWorkspace) -> None:
            assert await said(workspace, "pwd") == f"{workspace.path}\n"
            assert (
                await said(workspace, "./run.sh; cat link; readlink link") == "ran\na\nsrc/a.txt\n"
            )

        inside(opened, wanted, work)

    def test_each_workspace_has_its_own(self, opened: Opened, wanted: Wanted) -> None:
        async def work(workspaces: Workspaces, repo: PreparedRepo) -> None:
            one, other = (workspaces.workspace(repo, wanted) for _ in range(2))
            async with one, other:
                await said(one, "echo two >> README; rm -r src; echo new > new; chmod 600 run.sh")
                assert await said(one, "cat README; ls") == "one\ntwo\nREADME\nlink\nnew\nrun.sh\n"
                assert await said(other, "cat README; ls src") == "one\na.txt\nb.txt\n"
            async with workspaces.workspace(repo, wanted) as third:
                assert await said(third, "cat README; ls") == "one\nREADME\nlink\nrun.sh\nsrc\n"

        with_files(opened, work)

    def test_a_program_runs_as_on_the_host(self, opened: Opened, wanted: Wanted) -> None:
        async def work(workspace: RepoWorkspace) -> None:
            result = await workspace.run(shell("cat; echo oops >&2; exit 37", b"in\0put"))
            assert result.stdout == b"in\0put"
            assert "oops" in result.usage.stderr_tail
            assert (result.usage.exit_status, result.usage.signal) == (37, None)
            killed = await workspace.run(shell("kill -KILL $$"))
            assert (killed.usage.exit_status, killed.usage.signal) == (None, 9)

        inside(opened, wanted, work)

    def test_megabytes_go_through(self, opened: Opened, wanted: Wanted) -> None:
        data = os.urandom(3_000_000)

        async def work(workspace: RepoWorkspace) -> ProcessResult:
            return await workspace.run(shell("cat", data))

        assert inside(opened, wanted, work).stdout == data

    def test_a_call_starts_in_its_folder(self, opened: Opened, wanted: Wanted) -> None:
        async def work(workspace: RepoWorkspace) -> None:
            below = await workspace.run(shell("pwd", cwd="src"))
            assert below.stdout.decode() == f"{workspace.path}/src\n"
            whole = await workspace.run(shell("pwd", cwd=str(workspace.path / "src")))
            assert whole.stdout == below.stdout

        inside(opened, wanted, work)

    def test_variables_pass_and_the_home_is_its_own(self, opened: Opened, wanted: Wanted) -> None:
        async def work(workspace: RepoWorkspace) -> None:
            call = shell('printf "%s|%s|%s" "$NAME" "$HOME" "$EMPTY"')
            env = {**call.env, "NAME": "a=b\nc 'd'", "HOME": "/root", "EMPTY": ""}
            result = await workspace.run(replace(call, env=env))
            assert result.stdout.decode() == f"a=b\nc 'd'|{workspace.home}|"

        inside(opened, wanted, work)

    def test_files_home_and_temporary_files_outlast_a_call(
        self, opened: Opened, wanted: Wanted
    ) -> None:
        async def work(workspace: RepoWorkspace) -> None:
            await said(workspace, 'echo 1 > new; echo 2 > ~/new; echo 3 > "${TMPDIR:-/tmp}/new"')
            text = 'cat new ~/new "${TMPDIR:-/tmp}/new"'
            assert await said(workspace, text) == "1\n2\n3\n"

        inside(opened, wanted, work)

    @pytest.mark.parametrize(
        ("argv", "cwd"), [(("fairtrial-none",), "."), (("./README",), "."), (("true",), "none")]
    )
    def test_what_does_not_start_is_a_task_error(
        self, opened: Opened, wanted: Wanted, argv: tuple[str, ...], cwd: str
    ) -> None:
        async def work(workspace: RepoWorkspace) -> None:
            with pytest.raises(TaskError):
                await workspace.run(replace(shell(""), argv=argv, cwd=Path(cwd)))
            assert await said(workspace, "echo next") == "next\n"

        inside(opened, replace(wanted, port=None), work)

    def test_the_time_limit_ends_it_and_keeps_its_output(
        self, opened: Opened, wanted: Wanted
    ) -> None:
        async def work(workspace: RepoWorkspace) -> ProcessResult:
            text = "trap 'echo cleaned; exit 3' TERM; echo begun; while :; do sleep 0.05; done"
            return await workspace.run(shell(text, time_limit_s=1.5))

        result = inside(opened, wanted, work)
        assert result.timed_out
        assert result.stdout == b"begun\ncleaned\n"

    def test_the_output_limit_ends_it(self, opened: Opened, wanted: Wanted) -> None:
        async def work(workspace: RepoWorkspace) -> ProcessResult:
            return await workspace.run(replace(shell("cat /dev/zero"), max_output_bytes=1000))

        result = inside(opened, wanted, work)
        assert (result.stdout, result.truncated) == (bytes(1000), True)

    def test_nothing_outlives_a_call(self, opened: Opened, wanted: Wanted) -> None:
        marker = f"7{os.urandom(4).hex()}".translate(str.maketrans("abcdef", "123456"))

        async def work(workspace: RepoWorkspace) -> None:
            text = (
                f"(sleep {marker} &) ; (trap '' TERM; sleep {marker} & sleep {marker}) & sleep 0.1"
            )
            await workspace.run(shell(text))
            assert _alive(marker) == []
            result = await workspace.run(shell(text + "; sleep 60", time_limit_s=1.0))
            assert result.timed_out
            assert _alive(marker) == []

        inside(opened, wanted, work)

    def test_nothing_outlives_a_cancel_or_the_workspace(
        self, opened: Opened, wanted: Wanted
    ) -> None:
        marker = f"8{os.urandom(4).hex()}".translate(str.maketrans("abcdef", "123456"))

        async def begun(workspace: RepoWorkspace) -> asyncio.Task[ProcessResult]:
            task = asyncio.ensure_future(workspace.run(shell(f"sleep {marker}")))
            async with asyncio.timeout(PATIENCE_S):
                while not _alive(marker):  # noqa: ASYNC110  # it is about other processes
                    await asyncio.sleep(0.01)
            return task

        async def work(workspace: RepoWorkspace) -> None:
            task = await begun(workspace)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert _alive(marker) == []
            task = await begun(workspace)
            await workspace.close()
            assert _alive(marker) == []
            with pytest.raises(Undecidable, match="closed"):
                await task

        inside(opened, wanted, work)

    def test_calls_at_the_same_time_see_the_same_files(
        self, opened: Opened, wanted: Wanted
    ) -> None:
        async def work(workspace: RepoWorkspace) -> None:
            texts = [f"echo {number} > n{number}; echo x >> all" for number in range(6)]
            await asyncio.gather(*(said(workspace, text) for text in texts))
            assert await said(workspace, "ls n? | grep -c n; grep -c x all") == "6\n6\n"

        inside(opened, wanted, work)

    def test_a_diff_tells_every_change_and_can_be_applied(
        self, opened: Opened, wanted: Wanted
    ) -> None:
        change = (
            "echo two >> README; rm src/b.txt; chmod -x run.sh; printf 'a\\0b' > binary; "
            "ln -sf src link2; mkdir -p deep/er; echo x > 'deep/er/a name'; echo no > x.log"
        )

        async def work(workspaces: Workspaces, repo: PreparedRepo) -> None:
            async with workspaces.workspace(repo, wanted) as one:
                assert await one.diff() == b""
                await said(one, change)
                diff = await one.diff()
                with pytest.raises(Undecidable, match="larger"):
                    await one.diff(limit=10)
            assert b"x.log" not in diff
            async with workspaces.workspace(repo, wanted) as other:
                await other.apply(diff)
                assert await other.diff() == diff
                text = "cat README 'deep/er/a name'; ls src; test -x run.sh || echo plain"
                assert await said(other, text) == "one\ntwo\nx\na.txt\nplain\n"
                with pytest.raises(TaskError, match="does not apply"):
                    await other.apply(diff)
                assert await other.diff() == diff
            async with workspaces.workspace(repo, wanted) as third:
                await third.apply(diff, leaving_out=("README", "deep/er/a name"))
                assert (await said(third, "cat README; ls")).startswith("one\nREADME\nbinary\n")

        with_files(opened, work)

    def test_a_repository_in_a_folder_is_a_folder_in_a_diff(
        self, opened: Opened, wanted: Wanted
    ) -> None:
        async def nested(folder: Path) -> None:
            await fill(folder)
            git = folder / "src" / "lib" / ".git"
            for name in ("objects", "refs"):
                (git / name).mkdir(parents=True)
            (git / "HEAD").write_text("ref: refs/heads/main\n")
            (git.parent / "old").write_text("old\n")
            (git.parent / "gone").write_text("gone\n")

        change = (
            "cd src/lib; echo new >> old; rm gone; ln -s old link; cd ../..; "
            "mkdir -p new/.git/objects new/.git/refs new/deep; echo file > 'new/deep/a file'; "
            "echo 'ref: refs/heads/main' > new/.git/HEAD"
        )

        async def work() -> None:
            async with opened() as workspaces:
                repo = await workspaces.prepare("nested", nested)
                async with workspaces.workspace(repo, wanted) as one:
                    assert await one.diff() == b""
                    await said(one, change)
                    diff = await one.diff()
                assert b"+new\n" in diff
                assert b"-gone\n" in diff
                assert b".git" not in diff
                async with workspaces.workspace(repo, wanted) as other:
                    await other.apply(diff)
                    text = "cat src/lib/link 'new/deep/a file'; ls src/lib"
                    assert await said(other, text) == "old\nnew\nfile\nlink\nold\n"

        asyncio.run(work())

    def test_what_lies_among_the_files_has_no_say_in_a_diff(
        self, opened: Opened, wanted: Wanted
    ) -> None:
        change = (
            "mkdir -p .git/hooks .git/objects .git/refs; echo 'ref: refs/heads/x' > .git/HEAD; "
            "printf '[core]\\n\\tfsmonitor = touch ../evil; touch evil\\n' > .git/config; "
            "printf '* filter=x diff=x -diff eol=crlf working-tree-encoding=UTF-16\\n'"
            " > .gitattributes; echo two >> README"
        )

        async def work(workspace: RepoWorkspace) -> None:
            await said(workspace, change)
            diff = await workspace.diff()
            assert b"+two\n" in diff
            assert b"evil" not in diff
            assert await workspace.read("evil") is None

        inside(opened, wanted, work)

    def test_files_are_put_read_and_listed(
        self, opened: Opened, wanted: Wanted, tmp_path: Path
    ) -> None:
        outside = tmp_path / "given"
        (outside / "sub").mkdir(parents=True)
        (outside / "sub" / "tool").write_text("#!/bin/sh\necho tool\n")
        (outside / "sub" / "tool").chmod(0o755)
        (outside / "near").symlink_to("sub/tool")

        async def work(workspace: RepoWorkspace) -> None:
            await workspace.copy_in({"t/one.txt": b"1", "README": b"over"})
            await workspace.copy_in(outside, to="given")
            await workspace.copy_in(outside / "sub" / "tool", to=str(workspace.home))
            assert await said(workspace, "given/near; ~/tool; cat t/one.txt README") == (
                "tool\ntool\n1over"
            )
            assert await workspace.files("t") == ("one.txt",)
            assert await workspace.files() == (
                ".gitignore", "README", "given/sub/tool", "run.sh",
                "src/a.txt", "src/b.txt", "t/one.txt",
            )  # fmt: skip
            assert await workspace.files(limit=2) == (".gitignore", "README")
            assert await workspace.files("none") == ()
            assert await workspace.read("t/one.txt") == b"1"
            assert await workspace.read(str(workspace.path / "t/one.txt")) == b"1"
            assert await workspace.read(str(workspace.home / "tool")) is not None
            assert await workspace.read("README", limit=2) == b"ov"

        inside(opened, wanted, work)

    def test_links_of_a_trial_lead_nowhere(
        self, opened: Opened, wanted: Wanted, tmp_path: Path
    ) -> None:
        target = tmp_path / "precious"
        target.mkdir()
        (target / "secret").write_text("secret")

        async def work(workspace: RepoWorkspace) -> None:
            text = f"rm -r src; ln -s {target} src; ln -s {target}/secret file; mkfifo pipe"
            await said(workspace, text)
            assert await workspace.read("src/secret") is None
            assert await workspace.read("file") is None
            assert await workspace.read("pipe") is None
            assert await workspace.read("src") is None
            assert await workspace.files("src") == ()
            assert "src/secret" not in await workspace.files()
            await workspace.copy_in({"src/secret": b"new", "file": b"new", "src/in/x": b"x"})
            assert await said(workspace, "cat src/secret file src/in/x") == "newnewx"
            hostile = b"--- /dev/null\n+++ b/out/x\n@@ -0,0 +1 @@\n+x\n"
            await said(workspace, f"ln -s {target} out")
            with pytest.raises(TaskError, match="does not apply"):
                await workspace.apply(hostile)

        inside(opened, wanted, work)
        assert [path.name for path in target.iterdir()] == ["secret"]
        assert (target / "secret").read_text() == "secret"

    def test_no_path_leads_out(self, opened: Opened, wanted: Wanted, tmp_path: Path) -> None:
        hostile = tmp_path / "hostile"
        hostile.mkdir()
        (hostile / "up").symlink_to("../../etc")
        absolute = tmp_path / "absolute"
        absolute.mkdir()
        (absolute / "link").symlink_to("/etc/passwd")

        async def work(workspace: RepoWorkspace) -> None:
            for files in ({"../x": b""}, {"/x": b""}, {"a/../../x": b""}, hostile, absolute):
                with pytest.raises(UsageError, match="out of"):
                    await workspace.copy_in(files)
            for path in ("../x", "/etc/passwd", "a/../../x"):
                with pytest.raises(UsageError, match="not in the workspace"):
                    await workspace.read(path)
                with pytest.raises(UsageError, match="not in the workspace"):
                    await workspace.copy_in({"x": b""}, to=path)
            with pytest.raises(TaskError, match="does not apply"):
                await workspace.apply(b"--- /dev/null\n+++ b/../out\n@@ -0,0 +1 @@\n+x\n")

        inside(opened, wanted, work)

    def test_a_snapshot_is_the_state_of_a_moment(self, opened: Opened, wanted: Wanted) -> None:
        async def work(workspaces: Workspaces, repo: PreparedRepo) -> None:
            async with workspaces.workspace(repo, wanted) as one:
                await said(one, "echo two >> README; rm -r src; mkdir src; echo c > src/c.txt")
                first = await one.snapshot()
                await said(one, "echo three >> README; rm src/c.txt")
                second = await one.snapshot()
                diff = await one.diff()
                async with workspaces.workspace(first, wanted) as other:
                    assert await said(other, "cat README; ls src") == "one\ntwo\nc.txt\n"
                    await said(other, "rm README")
                async with workspaces.workspace(second, wanted) as other:
                    assert await said(other, "cat README; ls src") == "one\ntwo\nthree\n"
                    assert await other.diff() == diff
                async with workspaces.workspace(first, Wanted(Level.NONE)) as plain:
                    assert await said(plain, "cat README; ls src") == "one\ntwo\nc.txt\n"
                assert await said(one, "cat README") == "one\ntwo\nthree\n"
            async with workspaces.workspace(first, wanted) as other:
                assert await said(other, "cat README; ls src") == "one\ntwo\nc.txt\n"
            for snapshot in (first, second, second):
                workspaces.discard(snapshot)

        with_files(opened, work)

    def test_files_are_prepared_once(self, opened: Opened, wanted: Wanted) -> None:
        calls: list[Path] = []

        async def slowly(folder: Path) -> None:
            calls.append(folder)
            await asyncio.sleep(0.05)
            await fill(folder)

        async def failing(_: Path) -> None:
            raise TaskError("the setup failed")

        async def work() -> None:
            async with opened() as one, opened() as other:
                with pytest.raises(TaskError, match="setup"):
                    await one.prepare("key", failing)
                repos = await asyncio.gather(
                    *(place.prepare("key", slowly) for place in (one, other, one))
                )
                assert len(calls) == 1
                assert len(set(repos)) == 1
                async with other.workspace(repos[0], wanted) as workspace:
                    assert await said(workspace, "cat README") == "one\n"

        asyncio.run(work())

    def test_limits_hold_or_say_that_they_do_not(self, opened: Opened, wanted: Wanted) -> None:
        limits = Limits(memory_bytes=100 * 1024**2, processes=40, cpus=1.5)

        async def work(workspace: RepoWorkspace) -> None:
            held = workspace.isolation
            assert {one.what for one in held.held} == set(Guarantee)
            if held.holds(Guarantee.PROCESS_COUNT):
                result = await workspace.run(shell(BOMB, time_limit_s=20.0))
                assert not result.timed_out
                assert "fork" in result.usage.stderr_tail
            if held.holds(Guarantee.MEMORY):
                result = await workspace.run(shell(HOG))
                assert result.usage.exit_status != 0
                assert any(hit.startswith("memory") for hit in workspace.isolation.hits)
            assert await said(workspace, "echo next") == "next\n"

        inside(opened, replace(wanted, limits=limits), work)

    def test_a_closed_workspace_says_so(self, opened: Opened, wanted: Wanted) -> None:
        async def work(workspaces: Workspaces, repo: PreparedRepo) -> None:
            workspace = workspaces.workspace(repo, wanted)
            with pytest.raises(Undecidable, match="open it"):
                await workspace.run(shell("true"))
            await workspace.open()
            await said(workspace, "echo x > x")
            await workspace.close()
            await workspace.close()
            await workspace.open()
            assert await workspace.read("x") is None
            await workspace.close()

        with_files(opened, work)
