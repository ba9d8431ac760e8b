"""The verbs of captured sessions, as one types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Command
from tests.sessions.transcripts import Claude, Codex


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a session of each agent; that of Claude Code is flagged."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    claude = Claude()
    claude.prompt("Fix the cart.")
    claude.ran("c1", "python -m pytest -q", "FAILED test_a.py::test_a\n1 failed in 0.1s", code=1)
    claude.next_message()
    claude.said("Done! All tests pass.")
    claude.write(tmp_path / "claude")
    codex = Codex()
    codex.prompt("Explain the cart.")
    codex.said("It holds things.")
    codex.complete()
    codex.write(tmp_path / "codex")
    return tmp_path


@pytest.mark.usefixtures("home")
def test_sync_reads_once(fairtrial: Command) -> None:
    first = json.loads(fairtrial("sessions", "sync", "--json").out)
    assert (first["files"], first["read"], len(first["sessions"])) == (2, 2, 2)
    assert first["flagged"] == 1
    second = json.loads(fairtrial("sessions", "sync", "--json").out)
    assert (second["files"], second["read"], second["sessions"]) == (2, 0, [])
    assert "Nothing new in 2 transcripts" in fairtrial("sessions", "sync").out
    again = json.loads(fairtrial("sessions", "sync", "--anew", "--json").out)
    assert again["read"] == 2
    one = json.loads(fairtrial("sessions", "sync", "--agent", "codex", "--json").out)
    assert one["files"] == 1


def test_sync_says_where_it_looked(fairtrial: Command) -> None:
    assert ".claude/projects" in fairtrial("sessions", "sync").out
    done = fairtrial("sessions", "sync", "--path", "nowhere")
    assert (done.code, "there is no" in done.err) == (66, True)
    done = fairtrial("sessions", "sync", "--agent", "hal")
    assert (done.code, "known: claude-code, codex, opencode, gemini, pi, atif" in done.err) == (
        64,
        True,
    )


@pytest.mark.usefixtures("home")
def test_list_and_show(fairtrial: Command) -> None:
    fairtrial("sessions", "sync")
    text = fairtrial("sessions", "list").out
    assert "Fix the cart." in text
    assert "codex" in text
    found = json.loads(fairtrial("sessions", "list", "-w", "is:flagged", "--json").out)
    (session,) = found["sessions"]
    assert session["agent"] == "claude-code"
    assert {flag["name"] for flag in session["flags"]} >= {"done-while-failing"}
    page = json.loads(fairtrial("sessions", "list", "-n", "1", "--json").out)
    rest = fairtrial("sessions", "list", "--before", page["next"], "--json").out
    assert len(json.loads(rest)["sessions"]) == 1
    shown = fairtrial("sessions", "show", session["id"]).out
    assert "⚑ done-while-failing" in shown
    assert "fail, exit 1" in shown
    whole = json.loads(fairtrial("sessions", "show", session["id"][:14], "--json").out)
    assert [event["kind"] for event in whole["events"]][:2] == ["prompt", "usage"]
    assert "in no thread" not in fairtrial("sessions", "show", "latest", "--thread", "main").out
    done = fairtrial("sessions", "show", "latest", "--thread", "x")
    assert (done.code, "it has: main" in done.err) == (66, True)


def test_a_filter_that_is_not_understood_is_pointed_at(fairtrial: Command) -> None:
    done = fairtrial("sessions", "list", "--where", "agnet = codex")
    assert done.code == 64
    assert "did you mean agent?" in done.err
    assert fairtrial("sessions", "list", "--since", "soon").code == 64
    assert "No session is captured" in fairtrial("sessions", "list").out
    assert "No session fits" in fairtrial("sessions", "list", "--since", "1d").out


@pytest.mark.usefixtures("home")
def test_export(fairtrial: Command, folder: Path) -> None:
    fairtrial("sessions", "sync")
    fairtrial("sessions", "export", "latest#-1", "--to", "markdown", "-o", "one.md")
    assert (
        "Fix the cart." in (folder / "one.md").read_text()
        or "Explain" in (folder / "one.md").read_text()
    )
    lines = fairtrial("sessions", "export", "latest", "--to", "jsonl").out.splitlines()
    assert json.loads(lines[0])["kind"] == "session"


@pytest.mark.usefixtures("home")
def test_stats_and_a_picture(fairtrial: Command, folder: Path) -> None:
    assert "No session fits" in fairtrial("sessions", "stats").out
    fairtrial("sessions", "sync")
    weeks = json.loads(fairtrial("sessions", "stats", "--json").out)["weeks"]
    assert {(week["agent"], week["sessions"]) for week in weeks} == {
        ("claude-code", 1),
        ("codex", 1),
    }
    assert "done-while-failing" in fairtrial("sessions", "stats", "--plot", "weeks.svg").out
    assert (folder / "weeks.svg").read_text().startswith("<?xml")
    assert fairtrial("sessions", "stats", "--plot", "weeks.gif").code == 64


@pytest.mark.usefixtures("home")
def test_flags_are_listed_muted_and_made_again(fairtrial: Command) -> None:
    fairtrial("sessions", "sync")
    rules = json.loads(fairtrial("sessions", "flags", "--json").out)["rules"]
    counts = {rule["name"]: rule["sessions"] for rule in rules}
    assert counts["done-while-failing"] == 1
    fairtrial("sessions", "flags", "--mute", "done-while-failing")
    found = json.loads(fairtrial("sessions", "flags", "--again", "--json").out)
    muted = next(rule for rule in found["rules"] if rule["name"] == "done-while-failing")
    assert (muted["muted"], muted["sessions"], found["checked"]) == (True, 0, 2)
    fairtrial("sessions", "flags", "--unmute", "done-while-failing", "--again")
    done = fairtrial("sessions", "list", "-w", "flag = done-while-failing", "--json")
    (session,) = json.loads(done.out)["sessions"]
    assert "done-while-failing (warn)" in fairtrial("sessions", "flags", session["id"]).out
    assert fairtrial("sessions", "flags", "--mute", "nonsense").code == 66
    assert fairtrial("sessions", "flags", "latest", "--again").code == 64


@pytest.mark.usefixtures("home")
def test_rm_removes_for_good(fairtrial: Command) -> None:
    fairtrial("sessions", "sync")
    assert fairtrial("sessions", "rm").code == 64
    done = fairtrial("sessions", "rm", "--where", "agent = codex")
    assert (done.code, "1 session would be removed" in done.err) == (77, True)
    fairtrial("sessions", "rm", "--where", "agent = codex", "--yes")
    assert json.loads(fairtrial("sessions", "sync", "--json").out)["sessions"] == []
    assert len(json.loads(fairtrial("sessions", "list", "--json").out)["sessions"]) == 1
    back = json.loads(fairtrial("sessions", "sync", "--removed", "--json").out)
    assert len(back["sessions"]) == 1
    removed = json.loads(fairtrial("sessions", "rm", "--older-than", "0", "--yes", "--json").out)
    assert len(removed["sessions"]) == 2


def test_doctor_tells_what_was_not_understood(fairtrial: Command, home: Path) -> None:
    claude = Claude(session="77777777-2222-4333-8444-555555555555", seed=7)
    claude.prompt("Hi")
    claude.plain(type="hologram")
    claude.write(home / "claude")
    fairtrial("sessions", "sync")
    text = fairtrial("doctor").out
    assert "3 captured" in text
    assert "unknown records: hologram (1)" in text
    assert "see: fairtrial sessions list -w is:unread" in text


def test_doctor_tells_of_broken_lines_and_of_files_that_hold_nothing(
    fairtrial: Command, home: Path
) -> None:
    claude = Claude(session="77777777-2222-4333-8444-555555555555", seed=7)
    claude.prompt("Hi")
    path = claude.write(home / "claude")
    with path.open("ab") as file:
        file.write(b"\xff\xfe torn\n" * 3)
    garbage = path.with_name("garbage.jsonl")
    garbage.write_bytes(bytes(range(256)) * 9 + b"\n")
    fairtrial("sessions", "sync")
    text = fairtrial("doctor").out
    assert "3 broken or endless lines" in text
    assert "what was torn is skipped" in text
    assert f"1 files among the transcripts hold no session: {garbage}" in text


@pytest.mark.usefixtures("home")
def test_flags_and_exports_are_of_the_sessions_that_a_filter_fits(fairtrial: Command) -> None:
    fairtrial("sessions", "sync")
    rules = {
        where: {
            rule["name"]: rule["sessions"]
            for rule in fairtrial("sessions", "flags", "-w", where, "--json").json["rules"]
        }
        for where in ("agent = claude-code", "agent = codex")
    }
    assert rules["agent = claude-code"]["done-while-failing"] == 1
    assert rules["agent = codex"]["done-while-failing"] == 0
    lines = fairtrial("sessions", "export", "-w", "turns > 0", "--to", "jsonl").out.splitlines()
    heads = [json.loads(line) for line in lines if json.loads(line)["kind"] == "session"]
    assert {head["agent"] for head in heads} == {"claude-code", "codex"}
    text = fairtrial("sessions", "export", "-w", "agent = codex", "--to", "markdown").out
    assert text.count("# codex") == 1
    assert fairtrial("sessions", "export", "-w", "agent = pi", "--to", "jsonl").out == ""


@pytest.mark.usefixtures("home")
def test_the_next_page_keeps_the_filter(fairtrial: Command) -> None:
    fairtrial("sessions", "sync")
    out = fairtrial("sessions", "list", "-w", "turns > 0", "-n", "1").out
    assert "fairtrial sessions list --where 'turns > 0' --before" in out
