"""`prune` and `sessions rm`: what was removed is nowhere in the data folder."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.cli.conftest import EXACT, Command
from tests.sessions.transcripts import Claude
from tests.store.test_pruning import PLANTED, planted

from fairtrial.model.snapshot import Moment
from fairtrial.store.opening import open_store
from fairtrial.workspaces.snapshots.files import GitSnapshotFiles, Occasion

_STAYS = "stays-Qm42-stays"


@pytest.fixture
def data(fairtrial: Command, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with a session and an experiment that hold the planted text."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(folder / "claude"))
    claude = Claude()
    claude.prompt(f"Remember {PLANTED}.")
    claude.ran("c1", "cat notes", PLANTED * 3_000)
    claude.said(f"I remember {PLANTED}.")
    claude.write(folder / "claude")
    assert fairtrial("sessions", "sync").code == 0
    case = {"id": "c", "input": "x", "expected": "y"}
    (folder / "cases.jsonl").write_text(json.dumps(case) + "\n")
    assert fairtrial("dataset", "add", "one", "cases.jsonl").code == 0
    # Text that does not shrink much: its removal is seen in the size of the folder.
    noise = "".join(hashlib.sha256(str(n).encode()).hexdigest() for n in range(3_000))
    (folder / "answer").write_text(PLANTED + noise)
    task = json.dumps({"kind": "command", "command": ["cat", str(folder / "answer")]})
    run = ("exp", "run", "--dataset", "one", "--task", task, *EXACT, "--name", _STAYS)
    assert fairtrial(*run).code == 0
    return Path(os.environ["FAIRTRIAL_HOME"])


def test_sessions_are_removed_from_the_whole_folder(fairtrial: Command, data: Path) -> None:
    assert fairtrial("prune", "outputs", "--older-than", "0s", "--yes").code == 0
    assert planted(data)
    done = fairtrial("sessions", "rm", "latest")
    assert (done.code, "Removed 1 session" in done.out) == (0, True)
    assert planted(data) == []
    assert fairtrial("sessions", "sync").code == 0
    assert planted(data) == []


def test_everything_old_is_removed_and_the_rest_stays(fairtrial: Command, data: Path) -> None:
    tried = fairtrial("prune", "all", "--older-than", "0s", "--dry-run", "--json").json
    assert tried["removed"]["sessions"] == tried["removed"]["outputs"] == 1
    assert tried["bytes_before"] == tried["bytes_after"] > 0
    assert planted(data)
    refused = fairtrial("prune", "all", "--older-than", "0s")
    assert (refused.code, "for good: sessions (1), outputs (1)" in refused.err) == (77, True)
    assert planted(data)
    done = fairtrial("prune", "all", "--older-than", "0s", "--yes", "--json").json
    assert done["removed"] == tried["removed"]
    assert done["compacted"]
    assert done["bytes_after"] < done["bytes_before"]
    assert planted(data) == []
    shown = fairtrial("exp", "show", _STAYS, "--json").json
    assert (shown["failed"], shown["name"]) == (1, _STAYS)
    assert "outputs were removed" in fairtrial("exp", "show", _STAYS, "--case", "c").out
    again = fairtrial("exp", "regrade", _STAYS, "-g", "exact")
    assert (again.code, "the outputs of" in again.err) == (66, True)
    text = fairtrial("prune", "all", "--keep", "5", "--yes").out
    assert "The store took" in text


def _objects(home: Path, repo: Path) -> set[str]:
    """Return which files of a repository git finds in the store of snapshots."""
    found = set()
    for objects in home.rglob("objects"):
        environ = {**os.environ, "GIT_DIR": str(objects.parent)}
        for name in ("planted.txt", "other.txt"):
            content = (repo / name).read_bytes()
            ask = ["git", "cat-file", "blob", _blob(content)]
            asked = subprocess.run(ask, cwd=home, capture_output=True, check=False, env=environ)
            if asked.stdout == content:
                found.add(name)
    return found


def _blob(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()  # noqa: S324  # git's


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git on PATH")
@pytest.mark.parametrize(
    "words", [("sessions", "rm", "latest"), ("prune", "snapshots", "--older-than", "0s", "--yes")]
)
def test_snapshots_go_with_their_objects(
    fairtrial: Command, data: Path, folder: Path, words: tuple[str, ...]
) -> None:
    own = fairtrial("sessions", "list", "--json").json["sessions"][0]["native_id"]
    repo = folder / "repo"
    repo.mkdir()
    subprocess.run(["git", "init", "-q", str(repo)], check=True)
    files = GitSnapshotFiles(data, os.environ)
    with open_store(data) as store:
        for name, owner in (("planted.txt", "another"), ("other.txt", own)):
            (repo / name).write_text(f"{PLANTED} in {name}\n")
            ref = f"snap_{name[:5]}{'0' * 21}"
            occasion = Occasion(ref, "claude-code", owner, Moment.START, datetime.now(UTC))
            store.snapshots.save([files.take(repo, occasion)])
    assert _objects(data, repo) == {"planted.txt", "other.txt"}
    assert fairtrial(*words).code == 0
    # The first file is in the other session's snapshot too, which `sessions rm` leaves.
    kept = {"planted.txt"} if words[0] == "sessions" else set()
    assert _objects(data, repo) == kept
    assert fairtrial("prune", "snapshots", "--keep", "0", "--yes").code == 0
    assert _objects(data, repo) == set()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "nothing says how much"),
        (("--older-than", "1d"), "nothing says what"),
        (("sesions", "--keep", "1"), "did you mean sessions?"),
        (("sessions", "--older-than", "soon"), "--older-than takes"),
        (("sessions", "--older-than", "9999999999d", "--yes"), "at most 36500d"),
    ],
)
def test_what_is_missing_is_said(fairtrial: Command, words: tuple[str, ...], said: str) -> None:
    done = fairtrial("prune", *words)
    assert (done.code, said in done.err) == (64, True)
