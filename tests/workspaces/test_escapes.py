"""What a trial at level bwrap or image tries and must not manage."""

from __future__ import annotations

import asyncio
import http.server
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.workspaces.levels import needs_bwrap

from fairtrial.model.isolation import Level, Limits, Wanted
from fairtrial.ports import PreparedRepo, RepoWorkspace, Workspaces
from fairtrial.testing.repo_workspace import Opened, fill, inside, said, shell, with_files

SECRET = "the-secret-of-the-user"  # noqa: S105  # of nobody


@pytest.fixture(params=[pytest.param(Level.BWRAP, marks=needs_bwrap), Level.IMAGE])
def wanted(request: pytest.FixtureRequest) -> Wanted:
    level: Level = request.param
    image = request.getfixturevalue("image") if level is Level.IMAGE else None
    return Wanted(level, image=image)


class Server:
    """An HTTP server on a port of 127.0.0.1 that counts who asks."""

    def __init__(self) -> None:
        outer = self
        self.asked = 0

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked += 1
                body = b"answer" * 100_000
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                return

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def servers() -> Iterator[tuple[Server, Server]]:
    both = Server(), Server()
    yield both
    for server in both:
        server.close()


def test_one_port_and_nothing_else_is_reached(
    opened: Opened, wanted: Wanted, servers: tuple[Server, Server]
) -> None:
    proxy, other = servers
    get = (
        "wget -q -O - http://127.0.0.1:%d/ | wc -c"
        if wanted.image is None
        else ("wget -q -O - http://127.0.0.1:%d/ | { cat > got; ls -l got; }")
    )

    async def work(workspace: RepoWorkspace) -> None:
        for _ in range(2):  # each call has the port anew
            assert "600000" in await said(workspace, get % proxy.port)
        many = " & ".join(f"wget -q -O got{n} http://127.0.0.1:{proxy.port}/" for n in range(8))
        assert (
            await said(workspace, f"{many} & wait; cat got? | {{ cat > all; ls -l all; }}")
        ) != ""
        addresses = (f"127.0.0.1:{other.port}", "127.0.0.1:22", "1.1.1.1", "169.254.169.254")
        text = "; ".join(f"wget -q -O - http://{address}/ && echo reached" for address in addresses)
        assert (await workspace.run(shell(text))).stdout == b""

    inside(opened, replace(wanted, port=proxy.port), work)
    assert proxy.asked == 10
    assert other.asked == 0


def test_what_a_container_waits_for_cannot_be_replaced(
    opened: Opened, tmp_path: Path, image: str, servers: tuple[Server, Server]
) -> None:
    """The runner writes to that pipe: as a link it would lead to any file of the user."""
    precious = tmp_path / "precious"
    precious.write_text("precious")
    wanted = Wanted(Level.IMAGE, image=image, port=servers[0].port)

    async def work(workspace: RepoWorkspace) -> None:
        text = f"rm /run/trial/pipe; ln -sf {precious} /run/trial/pipe && echo replaced"
        assert (await workspace.run(shell(text))).stdout == b""
        await said(workspace, f"wget -q -O got http://127.0.0.1:{servers[0].port}/")

    inside(opened, wanted, work)
    assert precious.read_text() == "precious"


def test_a_port_that_nobody_serves_is_refused(opened: Opened, wanted: Wanted) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]

    async def work(workspace: RepoWorkspace) -> None:
        ask = f"wget -q -O - http://127.0.0.1:{port}/"  # which asks again and again
        result = await workspace.run(shell(ask, time_limit_s=2.0))
        assert result.usage.exit_status != 0
        assert result.stdout == b""

    inside(opened, replace(wanted, port=port), work)


def test_sockets_of_the_machine_are_not_reached(
    opened: Opened, wanted: Wanted, tmp_path: Path
) -> None:
    abstract = f"fairtrial-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as hidden, socket.socket(socket.AF_UNIX) as nameless:
        hidden.bind(str(tmp_path / "socket"))
        hidden.listen()
        nameless.bind(f"\0{abstract}")
        nameless.listen()

        async def work(workspace: RepoWorkspace) -> None:
            gone = await said(workspace, f"ls {tmp_path} /run /var/run 2>&1; cat /proc/net/unix")
            assert "docker.sock" not in gone
            assert "podman.sock" not in gone
            assert abstract not in gone

        inside(opened, wanted, work)


def test_files_of_the_user_cannot_be_read(
    opened: Opened, wanted: Wanted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "user"
    places = [
        home / ".ssh" / "id",
        home / ".claude.json",
        home / "notes",
        tmp_path / "store" / "db",
    ]
    for place in places:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(SECRET)
    monkeypatch.setenv("HOME", str(home))

    async def work(workspace: RepoWorkspace) -> None:
        tried = [
            path
            for place in places
            for path in (place, f"/proc/1/root{place}", f"/proc/self/cwd/../../..{place}")
        ]
        tried += ["/etc/shadow", "/etc/ssh/ssh_host_rsa_key", "/proc/kcore", "/proc/keys"]
        result = await workspace.run(shell("; ".join(f"cat {path}" for path in tried)))
        assert result.stdout == b""
        text = f"find / -xdev -type f -size -2 -path '*{tmp_path.name}*' 2>/dev/null || true"
        assert await said(workspace, text) == ""

    inside(opened, wanted, work)


def test_what_is_hidden_stays_hidden_in_a_folder_that_is_shown(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if sys.platform != "linux":
        pytest.skip("needs Linux")
    home = tmp_path / "user"
    for place in (home / ".ssh" / "id", home / ".netrc", home / "tools" / "data"):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(SECRET)
    monkeypatch.setenv("HOME", str(home))
    wanted = Wanted(Level.BWRAP, visible=(str(tmp_path),))

    async def work(workspace: RepoWorkspace) -> None:
        assert await said(workspace, f"cat {home}/tools/data") == SECRET
        assert await said(workspace, f"ls -A {home}/.ssh; ls -A {tmp_path}/store") == ""
        assert (await workspace.run(shell(f"cat {home}/.netrc"))).stdout == b""
        for path in (home / "tools" / "data", home / "new", home / ".ssh" / "new"):
            assert (await workspace.run(shell(f"echo x > {path}"))).usage.exit_status != 0

    inside(opened, wanted, work)


test_what_is_hidden_stays_hidden_in_a_folder_that_is_shown = needs_bwrap(
    test_what_is_hidden_stays_hidden_in_a_folder_that_is_shown
)


def test_the_system_cannot_be_changed(opened: Opened, wanted: Wanted) -> None:
    """Root in a namespace is still root to the kernel's settings, unless they are covered."""
    setting = Path("/proc/sys/kernel/core_pattern")
    before = setting.read_text()

    async def work(workspace: RepoWorkspace) -> None:
        paths = ("/usr/x", "/etc/x", "/x", setting, "/proc/sys/vm/drop_caches")
        text = "; ".join(f"(echo core > {path}) && echo written" for path in paths)
        result = await workspace.run(shell(text))
        if workspace.isolation.level is Level.BWRAP:  # what a container writes is thrown away
            assert result.stdout == b""
        text = (
            "mount -t tmpfs none /proc; umount /etc /proc/sys; mount -o remount,rw /proc/sys;"
            f"unshare -Urmpf --mount-proc sh -c 'echo x > {setting}'; mount -t proc proc /tmp;"
            f"echo x > /tmp/sys/kernel/core_pattern; echo x > {setting}; kill -9 1; chroot /"
        )
        await workspace.run(shell(text))
        assert "CapEff:\t0000000000000000" in await said(workspace, "cat /proc/self/status")

    try:
        inside(opened, wanted, work)
        assert setting.read_text() == before
        assert not any(Path(path).exists() for path in ("/usr/x", "/etc/x", "/x"))
    finally:
        if setting.read_text() != before:
            setting.write_text(before)


def test_processes_of_others_are_not_seen(opened: Opened, wanted: Wanted) -> None:
    with subprocess.Popen(["sleep", "60"]) as mine:

        async def work(workspace: RepoWorkspace) -> None:
            listing = await said(workspace, "cat /proc/[0-9]*/cmdline | grep -c [p]ytest || true")
            assert listing.strip() == "0"
            await workspace.run(shell(f"kill -9 {mine.pid}; kill -9 -1"))
            assert mine.poll() is None
            await said(workspace, "true")

        try:
            inside(opened, wanted, work)
        finally:
            mine.kill()


def test_other_trials_and_prepared_files_are_not_seen(opened: Opened, wanted: Wanted) -> None:
    async def work(workspaces: Workspaces, repo: PreparedRepo) -> None:
        async with workspaces.workspace(repo, wanted) as other:
            await said(other, f"echo {SECRET} > mine; echo {SECRET} > ~/mine; echo x > /tmp/mine")
            async with workspaces.workspace(repo, wanted) as one:
                await said(one, "test ! -e mine && test ! -e ~/mine && test ! -e /tmp/mine")
                for layer in (*repo.layers, repo.git):
                    assert (await one.run(shell(f"ls {layer}"))).usage.exit_status != 0
                text = f"grep -rl {SECRET} /workspace /home /tmp /run 2>/dev/null || true"
                assert await said(one, text) == ""

    with_files(opened, work)


def test_objects_of_the_users_repository_are_not_seen(
    opened: Opened, wanted: Wanted, tmp_path: Path
) -> None:
    """A repository among the prepared files that borrows objects cannot borrow them inside."""
    users = tmp_path / "users"
    users.mkdir()
    git = ["git", "-c", "user.name=n", "-c", "user.email=e", "-c", "init.defaultBranch=main"]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", SECRET]):
        subprocess.run([*git, *words], cwd=users, check=True)

    async def borrowing(folder: Path) -> None:
        await fill(folder)
        words = ["clone", "-q", "--shared", "--no-checkout", str(users), str(folder / "clone")]
        await asyncio.to_thread(subprocess.run, [*git, *words], check=True)

    async def work() -> None:
        async with opened() as workspaces:
            repo = await workspaces.prepare("borrowing", borrowing)
            async with workspaces.workspace(repo, wanted) as workspace:
                borrowed = await said(workspace, "cat clone/.git/objects/info/alternates")
                assert borrowed.strip() == f"{users}/.git/objects"
                result = await workspace.run(shell(f"ls {borrowed.strip()}"))
                assert result.usage.exit_status != 0

    asyncio.run(work())


def test_a_full_disk_of_temporary_memory_is_the_trials_own(opened: Opened, wanted: Wanted) -> None:
    """Files in memory count as memory."""

    async def work(workspace: RepoWorkspace) -> None:
        if not workspace.isolation.held[-1].holds:
            pytest.skip("needs a control group for memory")
        result = await workspace.run(shell("dd if=/dev/zero of=/dev/shm/x bs=1M count=400"))
        assert result.usage.exit_status != 0

    inside(opened, replace(wanted, limits=Limits(memory_bytes=100 * 1024**2)), work)
