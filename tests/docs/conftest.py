"""A terminal for documents: it writes their files, types their commands and compares the output.

In a document, a fenced block is

* ` ```console `: each line that starts with `$ ` is typed (`> ` goes on with it), and what follows
  is its output. A line `…` stands for any lines. See `normal` for what may differ.
* ` ```LANGUAGE file=NAME `: a file of that name, written before what follows is typed.

`UPDATE_DOCS=1 pytest tests/docs` writes the real output into the documents.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from fairtrial.cli.main import main

ROOT = Path(__file__).parents[2]
SHOWN_FOLDER = "/home/you/work"
SHOWN_STORE = "/home/you/.local/share/fairtrial"
_NEEDS_A_SHELL = re.compile(r"[|&;<>$`*~(){}]")
_BLOCK = re.compile(
    r"^(?P<indent> *)```(?P<info>\w[^\n]*)\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, the file it stands for, its text, its place in the document."""

    language: str
    file: str | None
    text: str
    span: tuple[int, int]


def blocks(document: str) -> list[Block]:
    """Return the fenced blocks of a document that name a language."""
    found = []
    for match in _BLOCK.finditer(document):
        language, *rest = match["info"].split()
        file = next((word.removeprefix("file=") for word in rest if "file=" in word), None)
        found.append(Block(language, file, match["text"], match.span("text")))
    return found


_PLACEHOLDERS = (
    (r"(exp|call|proxy|log|key)_[0-9A-Z]{6,26}", r"\1_ID"),
    (r"ftk_[\w-]{43}", "ftk_TOKEN"),
    (r"127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
    (r"^\d\d:\d\d:\d\d\b", "TIME"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?", "DATE"),
    (r'"(\w*_s|\w*_bytes|pid)": [0-9][0-9.e+-]*', r'"\1": NUMBER'),
    (r"(\d+ h )?(\d+ min )?\b[\d.]+ (s|ms)\b", "DURATION"),
    (r"\b[\d.]+ [KMG]iB\b", "SIZE"),
    (
        r"(?<=fairtrial )\d+\.\d+[\w.]*|(?<=fairtrial  )\d+\.\d+[\w.]*|Python \d+\.\d+\.\d+[\w+]*",
        "VERSION",
    ),
    (r'"(host|python|platform|fairtrial|commit|hostname)": "[^"]*"', r'"\1": "TEXT"'),
    (r"(?<=Slowest cases\n)[^\n]*", "  SLOWEST"),
    (r"[ \t]+$", ""),
)


def normal(text: str) -> str:
    """Return a text in which ids, times, durations, sizes and versions are all the same."""
    for pattern, placeholder in _PLACEHOLDERS:
        text = re.sub(pattern, placeholder, text, flags=re.MULTILINE)
    return text.strip("\n")


def fits(shown: str, real: str) -> bool:
    """Return whether an output is the one that a document shows."""
    parts = re.split(r"^…$\n?", normal(shown) + "\n", flags=re.MULTILINE)
    pattern = r"(?:.*\n)*?".join(re.escape(part) for part in parts)
    return re.fullmatch(pattern, normal(real) + "\n") is not None


@dataclass
class Terminal:
    """Runs command lines in a folder with a store of its own, and keeps the last exit code."""

    folder: Path
    store: Path
    monkeypatch: pytest.MonkeyPatch
    exit_code: int = 0
    ports: dict[str, str] = field(default_factory=dict)
    servers: list[subprocess.Popen[str]] = field(default_factory=list)

    def write(self, name: str, text: str) -> None:
        """Write a file of a document."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def type(self, line: str) -> str:
        """Run one command line and return what a terminal would show of it."""
        words = shlex.split(line, comments=True)
        if words == ["echo", "$?"]:
            shown = f"{self.exit_code}\n"
        elif words[0] == "export":
            shown = self._export(words[1])
        elif words[0] == "cd":
            self.folder = (self.folder / words[1]).resolve()
            self.monkeypatch.chdir(self.folder)
            shown = ""
        elif line.endswith(" &"):
            shown = self._serve(line.removesuffix(" &"))
        elif words[0] == "fairtrial" and not _NEEDS_A_SHELL.search(re.sub("'[^']*'", "", line)):
            shown = self._in_process(words[1:])
        else:
            shown = self._in_shell(line)
        return self._anonymous(shown)

    def close(self) -> None:
        """End the servers that were started."""
        for server in self.servers:
            os.killpg(server.pid, signal.SIGKILL)
            server.communicate()

    def _in_process(self, words: list[str]) -> str:
        screen = io.StringIO()
        with contextlib.redirect_stdout(screen), contextlib.redirect_stderr(screen):
            self.exit_code = main(words)
        return screen.getvalue()

    def _in_shell(self, line: str) -> str:
        done = subprocess.run(
            ["bash", "-c", line],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        self.exit_code = done.returncode
        return done.stdout

    def _serve(self, line: str) -> str:
        server = subprocess.Popen(
            ["bash", "-c", f"exec {line}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        self.servers.append(server)
        assert server.stdout
        return server.stdout.readline()

    def _export(self, setting: str) -> str:
        """Set a variable; a PORT becomes one that is free."""
        name, _, value = setting.partition("=")
        if name == "PORT":
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.ports[value] = str(probe.getsockname()[1])
            value = self.ports[value]
        value = os.path.expandvars(value.replace(SHOWN_FOLDER, str(self.folder)))
        self.monkeypatch.setenv(name, value)
        return ""

    def _anonymous(self, shown: str) -> str:
        real = {
            str(self.store): SHOWN_STORE,
            str(self.folder): SHOWN_FOLDER,
            os.environ["HOME"]: "/home/you",
            sys.executable: "/home/you/.venv/bin/python3",
            shutil.which("git") or "git": "/usr/bin/git",
        }
        for path, name in real.items():
            shown = shown.replace(path, name)
        for name, port in self.ports.items():
            shown = re.sub(rf"\b{port}\b", name, shown)
        return shown


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    """A terminal in an empty folder."""
    folder, store = tmp_path / "work", tmp_path / "store"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("FAIRTRIAL_HOME", str(store))
    monkeypatch.setenv("COLUMNS", "100")
    python = Path(sys.executable).parent
    monkeypatch.setenv("PATH", f"{python}{os.pathsep}{os.environ['PATH']}")
    place = Terminal(folder, store, monkeypatch)
    yield place
    place.close()
