"""The parts of the program that runs one container that need no container."""

from __future__ import annotations

import os
from pathlib import Path

from fairtrial.workspaces.sandbox.container import shows


def test_a_process_is_known_by_a_file_that_it_sees(tmp_path: Path) -> None:
    ours, other = tmp_path / "ours", tmp_path / "other"
    ours.touch()
    other.touch()
    assert shows(os.getpid(), str(ours), str(ours))
    assert not shows(os.getpid(), str(other), str(ours))
    assert not shows(os.getpid(), "/run/trial/pipe", str(ours))
    assert not shows(2**22 + 1, str(ours), str(ours))
