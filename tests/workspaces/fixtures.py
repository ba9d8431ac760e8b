"""Fixtures for tests of workspaces; a conftest imports them."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.workspaces.levels import containers, make_image, opened_at

from fairtrial.testing.repo_workspace import Opened

_NAME = "fairtrial-test:1"


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    return opened_at(tmp_path / "store")


@pytest.fixture(scope="session")
def _containers_of_this_session() -> Iterator[str]:
    podman = shutil.which("podman")
    busybox = shutil.which("busybox")
    if podman is None or busybox is None:
        pytest.skip("needs podman and busybox-static")
    linked = subprocess.run(["ldd", busybox], capture_output=True, check=False).returncode == 0
    if linked:
        pytest.skip("needs busybox-static; this busybox needs libraries")
    folder = Path(tempfile.mkdtemp(prefix="ft-"))
    try:
        with containers(folder):
            try:
                make_image(podman, _NAME)
                tried = [podman, "run", "--rm", "--network", "none", _NAME, "true"]
                subprocess.run(tried, capture_output=True, check=True)
            except subprocess.CalledProcessError as problem:
                pytest.skip(f"needs a podman that works: {problem.stderr.decode()}")
            yield _NAME
            subprocess.run([podman, "rmi", "--force", _NAME], capture_output=True, check=False)
    finally:
        subprocess.run(["umount", f"{folder}/graph/overlay"], capture_output=True, check=False)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def image(_containers_of_this_session: str) -> str:
    """The name of a small image, in storage of this session's own."""
    return _containers_of_this_session
