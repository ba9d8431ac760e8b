"""`dataset add --session`: what agents were asked, as cases."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Command, write_cases
from tests.sessions.start_state.repo import repo_in
from tests.sessions.transcripts import OTHER, Claude, Codex


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    return tmp_path


def test_the_first_prompt_becomes_a_case_with_what_it_began_with(
    fairtrial: Command, home: Path
) -> None:
    repo = repo_in(home / "shop")
    commit = repo.commit("one")
    git = {"commit_hash": commit, "branch": "main"}
    codex = Codex(cwd=str(repo.root), git=git)
    codex.prompt("Fix the cart.")
    codex.prompt("And now?")
    codex.write(home / "codex")
    claude = Claude(session=OTHER)
    claude.prompt("Explain it.")
    claude.write(home / "claude")
    fairtrial("sessions", "sync")
    assert (
        fairtrial("dataset", "add", "mine", "--session", codex.thread, "--json").json["n_cases"]
        == 1
    )
    both = ("--session", claude.session, "--session", codex.thread)
    done = fairtrial("dataset", "add", "mine", *both, "--json").json
    assert (done["ref"], done["n_cases"], done["is_new"]) == ("mine@2", 2, True)
    again = fairtrial("dataset", "add", "mine", "--session", claude.session, "--json").json
    assert (again["ref"], again["is_new"]) == ("mine@2", False)
    first, second = fairtrial("dataset", "show", "mine", "--json").json["cases"]
    found = json.loads(fairtrial("sessions", "show", codex.thread, "--json").out)["session"]
    assert (first["id"], first["input"]) == (found["id"], "Fix the cart.")
    assert first["metadata"] == {
        "session": found["id"],
        "agent": "codex",
        "agent_version": "0.171.0",
        "repo": str(repo.root),
        "branch": "main",
        "start_commit": commit,
        "grade": "base-exact",
        "started_at": found["started_at"],
    }
    assert second["metadata"]["grade"] is None
    assert second["metadata"]["repo"] == "/home/dev/shop"


def test_sessions_come_to_the_cases_of_files(fairtrial: Command, home: Path, folder: Path) -> None:
    claude = Claude()
    claude.prompt("Explain it.")
    claude.write(home / "claude")
    fairtrial("sessions", "sync")
    write_cases(folder / "cases.jsonl", 2)
    done = fairtrial("dataset", "add", "d", "cases.jsonl", "--session", "latest", "--json").json
    assert done["n_cases"] == 3
    assert fairtrial("dataset", "add", "d", "--session", "latest#-1").code == 66


def test_a_session_without_a_prompt_of_its_own_is_refused(fairtrial: Command, home: Path) -> None:
    claude = Claude()
    claude.prompt("<command-name>/clear</command-name>")
    claude.write(home / "claude")
    codex = Codex(parent_thread_id=OTHER)
    codex.prompt("Look for it.")
    codex.write(home / "codex")
    long = Claude(session=OTHER, seed=2)
    long.prompt("x" * 40_000)
    long.write(home / "claude")
    fairtrial("sessions", "sync")
    sessions = fairtrial("sessions", "list", "--json").json["sessions"]
    ids = {one["agent"] + one["native_id"]: one["id"] for one in sessions}
    for key, why in (
        (f"claude-code{claude.session}", "no prompt of a person"),
        (f"codex{codex.thread}", "another agent wrote its prompt"),
        (f"claude-code{OTHER}", "too long"),
    ):
        done = fairtrial("dataset", "add", "d", "--session", ids[key])
        assert (done.code, why in done.err) == (64, True), done.err
    assert fairtrial("dataset", "add", "d").code == 64
    assert fairtrial("dataset", "list", "--json").json["versions"] == []
