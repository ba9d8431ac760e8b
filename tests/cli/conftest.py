"""The command line, run in this process or as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.workspaces.fixtures import _containers_of_this_session, image

from fairtrial.cli.main import main

__all__ = ["_containers_of_this_session", "image"]


@dataclass(frozen=True)
class Outcome:
    """What a command left."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Command = Callable[..., Outcome]


@pytest.fixture
def fairtrial(folder: Path, capfd: pytest.CaptureFixture[str]) -> Command:
    """Run a command line in this process, in an empty folder with an empty store."""
    del folder

    def run(*words: str) -> Outcome:
        capfd.readouterr()
        code = main(list(words))
        out, err = capfd.readouterr()
        assert "Traceback" not in out + err
        return Outcome(code, out, err)

    return run


def process(*words: str, **settings: Any) -> subprocess.Popen[str]:
    """Start a command line as a process of its own."""
    environment: Mapping[str, str] = {**os.environ, **settings.pop("env", {})}
    return subprocess.Popen(
        [sys.executable, "-m", "fairtrial", *words],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **settings,
    )


def write_cases(path: Path, n: int) -> Path:
    """Write cases whose input is their number and whose expected output is its text."""
    lines = [json.dumps({"id": f"c{i:04}", "input": i, "expected": str(i)}) for i in range(n)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


CAT = json.dumps({"kind": "command", "command": ["cat"]})
EXACT = ("-g", "exact")


@pytest.fixture
def numbers(fairtrial: Command, folder: Path) -> str:
    """A dataset of 20 cases that `cat` solves."""
    write_cases(folder / "cases.jsonl", 20)
    assert fairtrial("dataset", "add", "numbers", "cases.jsonl").code == 0
    return "numbers"
