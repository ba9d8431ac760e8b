"""`sessions checkout` and the grade that `sessions show` names."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.cli.conftest import Command
from tests.sessions.start_state.rebuilt import began, claude_in, codex_in, edited, patched
from tests.sessions.start_state.repo import Repo, repo_in, tree_of

from fairtrial.model.snapshot import Moment, Snapshot
from fairtrial.sessions.readers.claude_code.reader import AGENT
from fairtrial.store.opening import open_store
from fairtrial.workspaces.snapshots.files import GitSnapshotFiles, Occasion


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    return tmp_path


@pytest.fixture
def repo(home: Path) -> Repo:
    repo = repo_in(home / "shop")
    repo.write("a.py", "a = 1\n")
    repo.commit("one")
    repo.write("a.py", "a = 2\n")
    return repo


def taken(repo: Repo, native_id: str, moment: Moment) -> Snapshot:
    """Take a snapshot as the hooks do, and keep it."""
    home = Path(os.environ["FAIRTRIAL_HOME"])
    snapshot_id = f"snap_{native_id[:8]}{moment}"
    occasion = Occasion(snapshot_id, AGENT, native_id, moment, datetime.now(UTC))
    snapshot = GitSnapshotFiles(home, os.environ).take(repo.root, occasion)
    store = open_store(home, None)
    store.snapshots.save([snapshot])
    store.close()
    return snapshot


def test_it_writes_what_the_session_began_with(
    fairtrial: Command, home: Path, repo: Repo, folder: Path
) -> None:
    claude = claude_in(repo.root)
    began(claude, repo)
    edited(claude, repo.root / "a.py", "a = 2\n", "a = 3\n")
    edited(claude, "/etc/hosts", "x\n", "y\n")
    repo.write("a.py", "a = 3\n")
    claude.write(home / "claude")
    fairtrial("sessions", "sync")
    shown = fairtrial("sessions", "show", "latest")
    assert "start: base-exact: one commit starts as recorded" in shown.out
    done = fairtrial("sessions", "checkout", "latest", "before")
    assert done.code == 0
    assert "1 file written to" in done.out
    assert "outside of the repository: /etc/hosts" in done.out
    assert tree_of(folder / "before") == {"a.py": ("file", b"a = 2\n")}
    again = fairtrial("sessions", "checkout", "latest", "before")
    assert (again.code, "is not empty" in again.err) == (64, True)
    assert tree_of(folder / "before") == {"a.py": ("file", b"a = 2\n")}
    (folder / "empty").mkdir()
    told = fairtrial("sessions", "checkout", "latest", "empty", "--json").json
    (override,) = told["start"]["overrides"]
    assert (override["path"], override["bytes"], override["evidence"]) == ("a.py", 6, "edit")


def test_what_contradicts_the_commit_is_written_on_demand_only(
    fairtrial: Command, home: Path, repo: Repo, folder: Path
) -> None:
    codex = codex_in(repo.root, repo.git("rev-parse", "HEAD"))
    codex.prompt("Go.")
    patched(codex, {"a.py": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-x\n+y\n"}})
    codex.write(home / "codex")
    fairtrial("sessions", "sync")
    done = fairtrial("sessions", "checkout", "latest", "before")
    assert (done.code, "a.py: its first diff does not fit the commit" in done.err) == (77, True)
    assert not (folder / "before").exists()
    done = fairtrial("sessions", "checkout", "latest", "before", "--force")
    assert (done.code, "start: conflicting" in done.out) == (0, True)
    assert (folder / "before/a.py").is_file()


def test_what_cannot_be_rebuilt_says_why(fairtrial: Command, home: Path, folder: Path) -> None:
    codex = codex_in("/nowhere/shop", "ab" * 20)
    codex.prompt("Go.")
    codex.write(home / "codex")
    fairtrial("sessions", "sync")
    done = fairtrial("sessions", "checkout", "latest", "before")
    assert (done.code, "/nowhere/shop is gone" in done.err) == (66, True)
    done = fairtrial("sessions", "checkout", "latest", "before", "--repo", "nothing-here")
    assert (done.code, "is no git repository" in done.err) == (66, True)
    assert fairtrial("sessions", "checkout", "ses_nothing", "before").code == 66
    assert not (folder / "before").exists()


def test_a_snapshot_of_its_start_is_exact(
    fairtrial: Command, home: Path, repo: Repo, folder: Path
) -> None:
    claude = claude_in(repo.root)
    (repo.root / "run.sh").write_text("true\n")
    (repo.root / "run.sh").chmod(0o755)
    true = repo.tree()
    taken(repo, claude.session, Moment.START)
    repo.write("a.py", "a = 3\n")
    taken(repo, claude.session, Moment.STOP)
    began(claude, repo)
    edited(claude, repo.root / "a.py", "nonsense\n", "a = 3\n")
    claude.write(home / "claude")
    fairtrial("sessions", "sync")
    told = fairtrial("sessions", "checkout", "latest", "before", "--json").json
    assert told["start"]["grade"] == "exact"
    assert told["start"]["snapshot"] == f"snap_{claude.session[:8]}start"
    assert told["start"]["base"]["commit"] == repo.git("rev-parse", "HEAD")
    assert tree_of(folder / "before") == true
    assert told["files"] == len(true)


def test_a_snapshot_of_a_session_that_was_resumed_is_none_of_its_start(
    fairtrial: Command, home: Path, repo: Repo
) -> None:
    claude = claude_in(repo.root, datetime(2026, 1, 1, tzinfo=UTC))
    began(claude, repo)
    claude.ran("c1", "ls", "")
    claude.write(home / "claude")
    taken(repo, claude.session, Moment.START)
    fairtrial("sessions", "sync")
    start = fairtrial("sessions", "show", "latest", "--json").json["start"]
    assert (start["grade"], start["snapshot"]) == ("base-exact", None)


def test_odd_names_are_printed_and_written(
    fairtrial: Command, home: Path, repo: Repo, folder: Path
) -> None:
    odd = os.fsdecode(b"caf\xe9 \x1b[31m\n.txt")
    repo.write(odd, "x\n")
    codex = codex_in(repo.root, repo.git("rev-parse", "HEAD"))
    codex.prompt("Go.")
    codex.write(home / "codex")
    fairtrial("sessions", "sync")
    done = fairtrial("sessions", "checkout", "latest", "before")
    assert (done.code, "\x1b" in done.out) == (0, False)
    told = fairtrial("sessions", "checkout", "latest", "again", "--json").json
    assert len(told["start"]["overrides"]) == 2
    assert tree_of(folder / "again") == repo.tree()
