"""What every test lives in: no home, no network beyond loopback, no store but its own."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# The same examples in every run: a check that fails today and not tomorrow helps nobody.
# `--hypothesis-profile=explore` looks for new ones.
settings.register_profile("repeat", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, max_examples=2_000)
settings.load_profile("repeat")


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    # `mktemp` looks through all folders for a free number: a minute for thousands of tests.
    place = tmp_path_factory.mktemp("homes")
    return (place / str(number) for number in count())


@pytest.fixture(autouse=True)
def _away_from_home(monkeypatch: pytest.MonkeyPatch, _homes: Iterator[Path]) -> None:
    home = next(_homes)
    home.mkdir(mode=0o700)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("FAIRTRIAL_HOME", str(home / "fairtrial"))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "FAIRTRIAL_STORE", "NO_COLOR", "CI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    # `python3` of a task is this one: launchers that look for one first take eight times as long.
    python = Path(sys.executable).parent
    monkeypatch.setenv("PATH", f"{python}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture(autouse=True)
def _loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        host = address[0] if isinstance(address, tuple) else "localhost"
        if host not in ("localhost", "::1") and not str(host).startswith("127."):
            pytest.fail(f"a test tried to reach {host}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that the test's commands run in."""
    place = tmp_path / "work"
    place.mkdir()
    monkeypatch.chdir(place)
    return place
