"""What tests of workspaces need: workspaces, and containers of the test session's own."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
import tarfile
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from fairtrial.ports import Workspaces
from fairtrial.testing.repo_workspace import Opened
from fairtrial.workspaces.host.client import HostWorkspace
from fairtrial.workspaces.levels import LocalWorkspaces

TOOLS = ("sh", "cat", "ls", "env", "sleep", "rm", "mkdir", "mkfifo", "ln", "readlink", "chmod",
         "dd", "kill", "true", "touch", "wget", "nc", "ps", "id", "find", "grep")  # fmt: skip


def new_id() -> str:
    return uuid.uuid4().hex[:12]


@contextlib.asynccontextmanager
async def open_workspaces(home: Path) -> AsyncIterator[Workspaces]:
    programs = HostWorkspace(8)
    workspaces = LocalWorkspaces(home, programs, dict(os.environ), new_id)
    await programs.open()
    try:
        yield workspaces
    finally:
        workspaces.close()
        await programs.close()


def _bwrap_problem() -> str | None:
    path = shutil.which("bwrap")
    if path is None:
        return "bwrap is not installed"
    tried = subprocess.run(
        [path, "--unshare-all", "--ro-bind", "/", "/", "true"], capture_output=True, check=False
    )
    return tried.stderr.decode() if tried.returncode else None


needs_bwrap = pytest.mark.skipif(
    _bwrap_problem() is not None, reason=f"needs a bwrap that works: {_bwrap_problem()}"
)


@contextlib.contextmanager
def containers(folder: Path) -> Iterator[None]:
    """Podman with settings and storage of its own, below a folder."""
    (folder / "containers.conf").write_text(
        "[containers]\n"
        'default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]\n'
        "[engine]\n"
        'cgroup_manager = "cgroupfs"\n'
        'events_logger = "file"\n' + ('runtime = "runc"\n' if shutil.which("runc") else "")
    )
    (folder / "storage.conf").write_text(
        f'[storage]\ndriver = "overlay"\ngraphroot = "{folder}/graph"\nrunroot = "{folder}/run"\n'
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONTAINERS_CONF", str(folder / "containers.conf"))
        patch.setenv("CONTAINERS_STORAGE_CONF", str(folder / "storage.conf"))
        yield


def make_image(podman: str, name: str) -> None:
    """Make an image of busybox and nothing else."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.add(shutil.which("busybox") or "", "bin/busybox")
        for tool in TOOLS:
            link = tarfile.TarInfo(f"bin/{tool}")
            link.type, link.linkname = tarfile.SYMTYPE, "busybox"
            archive.addfile(link)
        for folder in ("tmp", "etc", "root"):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(entry)
    subprocess.run(
        [podman, "import", "-", name], input=packed.getvalue(), capture_output=True, check=True
    )


def opened_at(home: Path) -> Opened:
    return lambda: open_workspaces(home)
