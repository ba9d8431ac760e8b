"""Nothing leaves the machine: reading sessions opens no socket."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.sessions.transcripts import Claude, Codex

_WATCHED = """
import json, sys
seen = []
sys.addaudithook(lambda name, given: seen.append(name) if name.startswith("socket.") else None)
from fairtrial.cli.main import main
codes = [main(words) for words in json.loads(sys.argv[1])]
print(json.dumps([codes, seen]), file=sys.stderr)
"""


def test_sync_flags_show_and_their_kin_open_no_socket(tmp_path: Path) -> None:
    for writer, place in ((Claude(), "claude"), (Codex(), "codex")):
        writer.prompt("Fix https://example.test/cart.")
        writer.said("Done, see https://example.test.")
        writer.write(tmp_path / place)
    commands = [
        ["sessions", "sync"],
        ["sessions", "list", "--where", "is:flagged or turns > 0"],
        ["sessions", "flags"],
        ["sessions", "flags", "latest"],
        ["sessions", "flags", "--again"],
        ["sessions", "show", "latest"],
        ["sessions", "stats"],
        ["sessions", "export", "latest", "--to", "markdown"],
        ["prune", "sessions", "--keep", "0", "--yes"],
        ["__complete", "bash", "fairtrial sessions show "],
    ]
    done = subprocess.run(
        [sys.executable, "-c", _WATCHED, json.dumps(commands)],
        capture_output=True,
        text=True,
        check=True,
        env={
            **os.environ,
            "FAIRTRIAL_HOME": str(tmp_path / "home"),
            "CLAUDE_CONFIG_DIR": str(tmp_path / "claude"),
            "CODEX_HOME": str(tmp_path / "codex"),
        },
    )
    codes, seen = json.loads(done.stderr.splitlines()[-1])
    assert codes == [0] * len(commands)
    assert seen == []


def test_the_watch_sees_a_socket() -> None:
    code = _WATCHED.replace(
        "from fairtrial.cli.main import main",
        "import socket; main = lambda _: socket.socket().close()",
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "[[]]"], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stderr.splitlines()[-1])[1] == ["socket.__new__"]
