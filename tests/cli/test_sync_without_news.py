"""A sync that finds nothing new must be cheap: hooks and cron jobs call it often."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.sessions.transcripts import Claude

SYNC = """
import sys
from fairtrial.cli.main import main
main(["sessions", "sync", "--agent", "claude-code", "--json"])
print(*sys.modules, file=sys.stderr)
"""


def loaded(tmp_path: Path) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", SYNC],
        env={
            **os.environ,
            "FAIRTRIAL_HOME": str(tmp_path / "store"),
            "CLAUDE_CONFIG_DIR": str(tmp_path),
        },
        capture_output=True,
        check=True,
        text=True,
    )
    return set(done.stderr.split())


def test_it_loads_only_what_it_needs(tmp_path: Path) -> None:
    claude = Claude()
    claude.prompt("Fix add.")
    claude.write(tmp_path)
    unneeded = {
        "sqlalchemy",
        "rich",
        "fairtrial.model.events",
        "fairtrial.model.session",
        "fairtrial.ports.stores",
        "fairtrial.sessions.reading_ahead",
        "fairtrial.sessions.syncing",
        "fairtrial.sessions.readers.claude_code.transcript",
    }
    first = loaded(tmp_path)
    assert "sqlalchemy" in first
    assert "fairtrial.sessions.syncing" in first
    assert loaded(tmp_path) & unneeded == set()
