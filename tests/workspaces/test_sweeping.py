"""What a killed runner leaves is found and removed: the test counts it."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.workspaces.levels import needs_bwrap, new_id, open_workspaces

from fairtrial.model.isolation import Level
from fairtrial.testing.repo_workspace import fill
from fairtrial.workspaces.image.engines import LABEL
from fairtrial.workspaces.levels import sweep
from fairtrial.workspaces.places import Places

RUNNER = """
import asyncio, json, os, sys
from pathlib import Path
from fairtrial.model.isolation import Level, Limits, Wanted
from fairtrial.ports import ProcessCall
from fairtrial.workspaces.host.client import HostWorkspace
from fairtrial.workspaces.levels import LocalWorkspaces

order = json.loads(sys.argv[1])

def reached(point):
    if point == order["point"]:
        Path(order["home"], "reached").touch()
        import time; time.sleep(600)

async def fill(folder):
    (folder / "file").write_text("x")
    reached("preparing")

async def main():
    programs = HostWorkspace(4)
    await programs.open()
    home, environ = Path(order["home"]), dict(os.environ)
    workspaces = LocalWorkspaces(home, programs, environ, lambda: order["id"])
    repo = await workspaces.prepare("key", fill)
    limits = Limits(300 * 2**20, 100)
    wanted = Wanted(Level(order["level"]), limits, port=9, image=order["image"])
    async with workspaces.workspace(repo, wanted) as one, workspaces.workspace(repo, wanted) as two:
        reached("open")
        def sleeping(text):
            env = {"PATH": os.environ["PATH"]}
            return ProcessCall(("/bin/sh", "-c", text), b"", env, Path("."))
        await one.run(sleeping("echo y > file; mkdir -m 0 locked"))
        await one.snapshot()
        reached("snapshot")
        long = sleeping("sleep %s & sleep %s" % (order["marker"], order["marker"]))
        running = asyncio.ensure_future(two.run(long))
        if order["point"] == "starting":
            while not any(two.place.glob("order-*")): await asyncio.sleep(0)
            reached("starting")
        while True:
            await asyncio.sleep(0.05)
            if marked(order["marker"]) >= 2: reached("running")

def marked(marker):
    count = 0
    for entry in Path("/proc").iterdir():
        try: words = (entry / "cmdline").read_bytes().split(b"\\0")
        except OSError: continue
        count += words[:2] == [b"sleep", marker.encode()]
    return count

asyncio.run(main())
"""
PATIENCE_S = 60.0


class Leftovers:
    """Everything of one owner that a machine can have."""

    def __init__(self, home: Path, owner: str, marker: str) -> None:
        self.home, self.owner, self.marker = home, owner, marker

    def processes(self) -> list[str]:
        found = []
        for entry in Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
            except OSError:
                continue
            ours = [self.marker, self.owner, str(self.home)]
            if any(word.encode() in words for word in ours) and entry.name != str(os.getpid()):
                found.append(words.decode(errors="replace"))
        return found

    def mounts(self) -> list[str]:
        lines = Path("/proc/self/mountinfo").read_text().splitlines()
        return [line for line in lines if str(self.home) in line or self.owner in line]

    def folders(self) -> list[Path]:
        return list((self.home / "workspaces" / "live").iterdir())

    def groups(self) -> list[str]:
        found = []
        for folder, names, _ in os.walk("/sys/fs/cgroup"):
            found += [f"{folder}/{name}" for name in names if self.owner in name]
        return found

    def containers(self) -> list[str]:
        podman = shutil.which("podman")
        if podman is None or "CONTAINERS_STORAGE_CONF" not in os.environ:
            return []
        listing = [podman, "ps", "-aq", "--filter", f"label={LABEL}={self.owner}"]
        return subprocess.run(listing, capture_output=True, check=True).stdout.decode().split()

    def all(self) -> dict[str, object]:
        return {
            "processes": self.processes(),
            "mounts": self.mounts(),
            "folders": self.folders(),
            "groups": self.groups(),
            "containers": self.containers(),
        }


NOTHING: dict[str, object] = {
    "processes": [],
    "mounts": [],
    "folders": [],
    "groups": [],
    "containers": [],
}


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def killed_at(point: str, level: Level, home: Path, image: str | None = None) -> Leftovers:
    """Start a runner, let it come to a point, kill it, and wait for its processes to end."""
    home.mkdir()
    owner, marker = f"t{new_id()}", f"9{os.getpid()}{time.monotonic_ns() % 10**9}"
    order = {
        "point": point, "level": level, "home": str(home), "image": image,
        "id": owner, "marker": marker,
    }  # fmt: skip
    with subprocess.Popen([sys.executable, "-c", RUNNER, json.dumps(order)]) as runner:
        try:
            wait_until(lambda: (home / "reached").exists() or runner.poll() is not None)
            assert runner.poll() is None
        finally:
            os.kill(runner.pid, signal.SIGKILL)
    left = Leftovers(home, owner, marker)
    wait_until(lambda: level is Level.IMAGE or left.processes() == [])
    return left


def check_swept(left: Leftovers) -> None:
    assert left.folders() != []
    told = sweep(left.home / "workspaces" / "live")
    assert any("folder" in line for line in told)
    wait_until(lambda: left.processes() == [])
    assert left.all() == NOTHING
    assert sweep(left.home / "workspaces" / "live") == ()


@pytest.mark.parametrize("point", ["preparing", "open", "snapshot", "running"])
def test_level_none(point: str, tmp_path: Path) -> None:
    check_swept(killed_at(point, Level.NONE, tmp_path / "home"))


@needs_bwrap
@pytest.mark.parametrize("point", ["open", "snapshot", "starting", "running"])
def test_level_bwrap(point: str, tmp_path: Path) -> None:
    left = killed_at(point, Level.BWRAP, tmp_path / "home")
    assert left.mounts() == []  # they were the sandbox's own, and are gone with it
    check_swept(left)


@pytest.mark.parametrize("point", ["starting", "running"])
def test_level_image(point: str, tmp_path: Path, image: str) -> None:
    check_swept(killed_at(point, Level.IMAGE, tmp_path / "home", image))


def test_what_a_living_process_uses_stays(tmp_path: Path) -> None:
    live = tmp_path / "live"
    places = Places(live, new_id)
    place = places.new()
    assert sweep(live) == ()  # also in the same process
    source = (
        "import sys; from pathlib import Path; from fairtrial.workspaces.levels import sweep; "
        "print(sweep(Path(sys.argv[1])))"
    )
    asked = [sys.executable, "-c", source]
    done = subprocess.run([*asked, str(live)], capture_output=True, check=True)
    assert done.stdout == b"()\n"
    assert place.is_dir()
    places.close()
    assert list(live.iterdir()) == []


@needs_bwrap
def test_the_next_start_sweeps(tmp_path: Path) -> None:
    left = killed_at("open", Level.BWRAP, tmp_path / "home")
    (dead,) = left.folders()

    async def start() -> None:
        async with open_workspaces(left.home) as workspaces:
            await workspaces.prepare("key", fill)
            assert not dead.exists()

    asyncio.run(start())
    assert left.all() == NOTHING


def test_there_may_be_nothing_to_sweep(tmp_path: Path) -> None:
    assert sweep(tmp_path / "none") == ()


def test_a_half_made_owner_is_swept_when_it_is_old(tmp_path: Path) -> None:
    new = tmp_path / ".new-x"
    new.mkdir()
    assert sweep(tmp_path) == ()
    os.utime(new, (0, 0))
    assert sweep(tmp_path) == (f"folder {new}",)
    assert not new.exists()
