"""A small real model on loopback, and the command line that calls it.

`make test-model` installs both into `.model`. The weights are 135 million parameters: enough to
tell a good prompt from a bad one, and too few to be a good judge.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.docs.conftest import blocks

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "local_model"
INSTALLED = ROOT / ".model"
INSTRUCT, BASE = "smollm2-135m-instruct", "smollm2-135m-base"
NODE = shutil.which("node")

READY = NODE is not None and any(INSTALLED.glob(".installed-*"))
needs_model = [
    pytest.mark.model,
    pytest.mark.skipif(not READY, reason="needs `make test-model`"),
]
"""What every module here is marked with."""


def server_command(folder: Path = INSTALLED) -> list[str]:
    """Return the command that serves the model until its standard input ends."""
    script = str(Path(__file__).with_name("server.mjs"))
    return [NODE or "node", script, str(folder), "--until-stdin-ends"]


@dataclass(frozen=True)
class Outcome:
    """What a command left."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class Desk:
    """A folder, a store, and the command line as a process of its own."""

    folder: Path
    url: str

    def environ(self, **more: str) -> dict[str, str]:
        """Return all that a command sees: nothing of the machine's owner."""
        path = os.pathsep.join([str(Path(sys.executable).parent), "/usr/local/bin:/usr/bin:/bin"])
        return {
            "PATH": path,
            "HOME": str(self.folder / "home"),
            "FAIRTRIAL_HOME": str(self.folder / "store"),
            "OPENAI_BASE_URL": self.url,
            "LANG": "C.UTF-8",
            "COLUMNS": "100",
            **more,
        }

    def run(self, *words: str, env: dict[str, str] | None = None) -> Outcome:
        """Run a command line."""
        done = subprocess.run(
            [sys.executable, "-m", "fairtrial", *words],
            cwd=self.folder,
            env=self.environ(**(env or {})),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
        assert "Traceback" not in done.stdout + done.stderr
        assert "a defect of fairtrial" not in done.stderr, done.stderr
        return Outcome(done.returncode, done.stdout, done.stderr)

    def ok(self, *words: str, env: dict[str, str] | None = None) -> Outcome:
        """Run a command line that must succeed."""
        done = self.run(*words, env=env)
        assert done.code == 0, done.out + done.err
        return done

    def json(self, *words: str, env: dict[str, str] | None = None) -> Any:
        """Return what a command that must succeed says with `--json`."""
        return self.ok(*words, "--json", env=env).json

    def write(self, name: str, document: Any) -> str:
        """Write a JSON file, or of a list a line for each of its members; return its name."""
        rows = document if isinstance(document, list) else [document]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (self.folder / name).write_text(text, encoding="utf-8")
        return name

    def trials(self, experiment: str) -> list[Any]:
        """Return all trials of an experiment."""
        exported = self.ok("exp", "export", experiment, "--to", "jsonl").out
        return [json.loads(line) for line in exported.splitlines()]


@pytest.fixture(scope="session")
def model_url() -> Iterator[str]:
    """Serve the model for all tests; the server ends with this process, however that ends."""
    with subprocess.Popen(
        server_command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout
        url = server.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:"), "the server said why on standard error"
        try:
            yield url
        finally:
            assert server.stdin
            server.stdin.close()
            server.wait(30)


@pytest.fixture
def desk(tmp_path: Path, model_url: str) -> Desk:
    """A desk with a copy of the example on it, and its dataset in the store."""
    place = _desk(tmp_path / "desk", model_url)
    place.ok("dataset", "add", "reviews", "cases.jsonl")
    return place


@pytest.fixture(scope="session")
def tried(tmp_path_factory: pytest.TempPathFactory, model_url: str) -> Desk:
    """A desk on which the example was run as its README says: experiment `sentiment`."""
    place = _desk(tmp_path_factory.mktemp("tried") / "desk", model_url)
    for line in readme_lines():
        if line.startswith("fairtrial "):
            place.ok(*line.split()[1:])
    return place


def readme_lines() -> list[str]:
    """Return the command lines of the example's README."""
    text = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    return [line for block in blocks(text) for line in block.text.splitlines()]


def _desk(folder: Path, url: str) -> Desk:
    shutil.copytree(EXAMPLE, folder)
    return Desk(folder, url)


def prompt(**options: Any) -> str:
    """Return a prompt task that the model answers greedily."""
    task = {"kind": "prompt", "provider": "openai", "model": INSTRUCT, "temperature": 0}
    return json.dumps({**task, "max_tokens": 16, **options})
