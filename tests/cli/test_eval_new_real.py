"""A real session of Claude Code and Codex, recorded by the hooks of `fairtrial init`, as a task."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.sessions.capture.test_real_agents import Home, home, script, settled
from tests.sessions.start_state.agents import needs_agents
from tests.workspaces.snapshots.conftest import Repo, tree

from fairtrial.store.opening import open_store
from fairtrial.suites.folders import read_task
from fairtrial.suites.starting import Sources, write_start
from fairtrial.testing.model_server import ModelServer
from fairtrial.workspaces.snapshots.files import GitSnapshotFiles

__all__ = ["home"]

pytestmark = needs_agents
HIDDEN = "assert open('made.txt').read() == 'right'\n"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A repository with a hidden test, a change that is not committed, and an odd file."""
    root = tmp_path / "repo"
    (root / "tests").mkdir(parents=True)
    repo = Repo(root, tmp_path)
    repo.git("init", "-q", "-b", "main")
    repo.write("dirty.txt", "committed\n")
    repo.write("tests/check.py", HIDDEN)
    repo.commit()
    repo.write("dirty.txt", "edited by hand\r\n")
    repo.write("untracked ü.txt", b"\x00\xff", 0o755)
    return repo


@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_the_start_and_the_near_miss_are_what_it_found_and_left(
    agent: str, home: Home, repo: Repo, tmp_path: Path
) -> None:
    before = tree(repo.root)
    with ModelServer(script) as server:
        if agent == "codex":
            home.codex(server, repo.root, trusted=True)
        else:
            home.claude(server, repo.root)
    after = tree(repo.root)
    with open_store(home.store) as store:
        settled(store, home, agent)
    repo.write("dirty.txt", "something else by now\n")
    words = ["eval", "new", "latest", "--verifier", "python3 tests/check.py", "--json"]
    words += ["--hidden-test", "tests/*", "--repo", str(repo.root)]
    (told,) = json.loads(home.fairtrial(*words))["tasks"]
    assert (told["grade"], told["near_miss"], told["notes"]) == ("exact", True, [])
    task = read_task(Path(told["folder"]), repo.root)
    place = tmp_path / "place"
    place.mkdir()
    with open_store(home.store) as store:
        files = GitSnapshotFiles(home.store, os.environ)
        write_start(task, None, place, Sources(os.environ, store.snapshots.find, files))
    hidden = {name for name in before if name.startswith("tests")}
    assert hidden
    assert tree(place) == {name: what for name, what in before.items() if name not in hidden}
    patch = Path(told["folder"]) / "near_misses/session.patch"
    subprocess.run(["git", "apply", str(patch)], cwd=place, check=True)
    assert tree(place) == {name: what for name, what in after.items() if name not in hidden}
    (place / "tests").mkdir()
    for name, data in task.verifier.hidden.items():
        (place / name).write_bytes(data)
    assert task.verifier.command is not None
    line = task.verifier.command.line.replace("python3", sys.executable)
    failed = subprocess.run(["/bin/sh", "-c", line], cwd=place, check=False, capture_output=True)
    assert failed.returncode == 1
