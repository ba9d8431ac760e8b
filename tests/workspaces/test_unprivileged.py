"""Level bwrap as a user without any rights: the overlay works, and a limit of processes holds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.workspaces.levels import needs_bwrap

PROGRAM = """
import asyncio, json, os, sys
from pathlib import Path
os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
from fairtrial.model.isolation import Level, Limits, Wanted
from fairtrial.testing.repo_workspace import BOMB, fill, shell
from fairtrial.workspaces.host.client import HostWorkspace
from fairtrial.workspaces.levels import LocalWorkspaces

async def main():
    programs = HostWorkspace(2)
    await programs.open()
    home = Path(sys.argv[1])
    workspaces = LocalWorkspaces(home, programs, dict(os.environ), lambda: "only")
    repo = await workspaces.prepare("files", fill)
    wanted = Wanted(Level.BWRAP, Limits(processes=40))
    async with workspaces.workspace(repo, wanted) as workspace:
        text = "id -u; rm -r src; mkdir src; echo new > src/new; ls src"
        changed = await workspace.run(shell(text))
        bomb = await workspace.run(shell(BOMB, time_limit_s=20.0))
        print(json.dumps({
            "changed": changed.stdout.decode(), "bomb": bomb.usage.stderr_tail,
            "timed_out": bomb.timed_out, "held": workspace.isolation.content()["held"],
            "files": await workspace.files(),
        }))
    workspaces.close()
    await programs.close()
    assert list((home / "workspaces" / "live").iterdir()) == []

asyncio.run(main())
"""
# A python that anybody may run, with our packages: the tests' own may lie in a closed home.
PYTHON = "/usr/bin/python3"


def _problem() -> str | None:
    if os.getuid() != 0:
        return "needs root, to become a user without rights"
    ask = [PYTHON, "-c", "import sys; print(*sys.version_info[:2])"]
    try:
        version = subprocess.run(ask, capture_output=True, check=True, text=True).stdout.split()
    except (OSError, subprocess.CalledProcessError):
        return f"needs {PYTHON}"
    if version != [str(part) for part in sys.version_info[:2]]:
        return f"needs {PYTHON} of the same version as the tests'"
    return None


@pytest.fixture
def home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="ft-", dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)
        home = Path(folder, "home")
        home.mkdir()
        os.chown(home, 65534, 65534)
        yield home


@needs_bwrap
@pytest.mark.skipif(_problem() is not None, reason=str(_problem()))
def test_an_overlay_and_a_limit_without_any_rights(home: Path) -> None:
    packages = [path for path in sys.path if path.endswith("site-packages")]
    path = os.pathsep.join([str(Path(__file__).parents[2] / "src"), *packages])
    env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": path, "HOME": "/nonexistent"}
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    done = subprocess.run(
        [PYTHON, "-c", PROGRAM, str(home)], env=env, cwd="/", capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    told = json.loads(done.stdout)
    held = {one["what"]: one for one in told["held"]}
    assert told["changed"] == "65534\nnew\n"
    assert "src/new" in told["files"]
    assert "src/a.txt" not in told["files"]
    assert held["copy"]["how"] == "an overlay"
    assert held["process_count"]["holds"]
    assert "fork" in told["bomb"]
    assert not told["timed_out"]
