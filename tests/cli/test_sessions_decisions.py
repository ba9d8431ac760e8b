"""`sessions decisions`, as one types it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Command
from tests.sessions.transcripts import Claude, Codex

FAILING = "FAILED test_a.py::test_a\n1 failed in 0.1s"
SHOUTING = """
from fairtrial.model.decision_point import DecisionPoint


class Shouting:
    name = "shouting"
    summary = "the agent shouts"
    rubric = "Bad: the turn is in capitals."

    def points(self, session, events):
        print("looking")
        for event in events:
            if event.kind == "said":
                loud = event.text.isupper()
                yield DecisionPoint(self.name, event.number - 1, "spoke", (event.number,), bad=loud)


ANCHOR = Shouting()
"""


def claude(seed: int, cwd: str) -> Claude:
    session = f"{seed:08d}-2222-4333-8444-555555555555"
    found = Claude(session=session, seed=seed)
    found.prompt("Fix the cart.", cwd=cwd)
    return found


def retried(folder: Path, seed: int, cwd: str, command: str = "pytest -q") -> None:
    """A failed command that is run again, unchanged, and once otherwise."""
    told = claude(seed, cwd)
    for name in ("a", "b"):
        told.ran(name, command, FAILING, code=1)
        told.next_message()
    told.ran("c", "ls", "test_a.py")
    told.next_message()
    told.said("It still fails.")
    told.write(folder)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fairtrial: Command) -> Path:
    """A home with the same retry in two sessions of Claude Code, and another one of Codex."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    repo = tmp_path / "repo"
    subprocess.run(["git", "init", "-q", repo], check=True)
    retried(tmp_path / "claude", 1, str(repo))
    retried(tmp_path / "claude", 2, str(repo))
    codex = Codex()
    codex.prompt("Explain the cart.")
    codex.ran("x", "make cart", "make: no rule", 2)
    codex.ran("y", "make cart", "make: no rule", 2)
    codex.said("THERE IS NO CART.")
    codex.complete()
    codex.write(tmp_path / "codex")
    fairtrial("sessions", "sync")
    return tmp_path


@pytest.fixture
def found(fairtrial: Command) -> Any:
    def run(*words: str) -> Any:
        done = fairtrial("sessions", "decisions", "--since", "3650d", *words, "--json")
        assert done.code == 0
        return json.loads(done.out)

    return run


def kinds(report: Any) -> list[tuple[str, str, bool]]:
    return [(one["agent"], one["behavior"], one["bad"]) for one in report["decisions"]]


BAD_CLAUDE = ("claude-code", "unchanged-retry", True)
GOOD_CLAUDE = ("claude-code", "unchanged-retry", False)
BAD_CODEX = ("codex", "unchanged-retry", True)


@pytest.mark.usefixtures("home")
def test_bad_ones_good_ones_and_both(found: Any) -> None:
    bad = found()
    assert sorted(kinds(bad)) == [BAD_CLAUDE, BAD_CODEX]
    assert (bad["sought"], bad["more"], bad["sessions"]) == ("bad", False, 3)
    assert {one["agent"]: one["same"] for one in bad["decisions"]} == {"claude-code": 1, "codex": 0}
    assert kinds(found("--good")) == [GOOD_CLAUDE]
    assert sorted(kinds(found("--all"))) == [GOOD_CLAUDE, BAD_CLAUDE, BAD_CODEX]
    assert [one["name"] for one in bad["behaviors"]] == [
        "unverified-claim",
        "done-while-failing",
        "unchanged-retry",
    ]


@pytest.mark.usefixtures("home")
def test_the_whole_context_and_the_choice(found: Any) -> None:
    (one,) = found("--agent", "claude-code")["decisions"]
    assert [event["kind"] for event in one["context"] if event["kind"] != "usage"] == [
        "prompt",
        "call",
        "result",
    ]
    assert one["context"][-1]["number"] == one["after"] or one["context"][-1]["kind"] == "usage"
    chosen = [event for event in one["choice"] if event["kind"] == "call"]
    assert [event["command"] for event in chosen] == ["pytest -q"]
    assert one["first_prompt"] == "Fix the cart."


@pytest.mark.usefixtures("home")
def test_limit_behavior_agent_and_filter(found: Any, fairtrial: Command) -> None:
    assert len(found("-n", "1")["decisions"]) == 1
    assert found("-n", "1")["more"] is True
    assert found("--behavior", "done-while-failing")["decisions"] == []
    both = found("--behavior", "unchanged-retry,unverified-claim", "--behavior", "unchanged-retry")
    assert [one["name"] for one in both["behaviors"]] == ["unchanged-retry", "unverified-claim"]
    assert kinds(found("--agent", "codex,pi")) == [BAD_CODEX]
    assert kinds(found("--where", "agent = codex")) == [BAD_CODEX]
    assert found("--where", "is:flagged and agent = codex")["sessions"] == 0
    text = fairtrial("sessions", "decisions", "--since", "3650d", "--agent", "claude").out
    assert "No decision point found in 0 sessions" in text
    assert "Sessions of other agents were passed over: claude-code, codex" in text


def test_sessions_of_a_repository(home: Path, found: Any, fairtrial: Command) -> None:
    assert kinds(found("--repo", str(home / "repo"))) == [BAD_CLAUDE]
    assert fairtrial("sessions", "decisions", "--repo", str(home)).code == 66


@pytest.mark.usefixtures("home")
def test_named_sessions_whenever_they_ended(fairtrial: Command) -> None:
    none = fairtrial("sessions", "decisions", "--since", "2100-01-01").out
    assert "No decision point found in 0 sessions" in none
    listed = json.loads(fairtrial("sessions", "list", "--json").out)["sessions"]
    one = next(session["id"] for session in listed if session["agent"] == "codex")
    done = fairtrial("sessions", "decisions", one, one[:12], "--since", "2100-01-01", "--json")
    assert kinds(json.loads(done.out)) == [BAD_CODEX]
    done = fairtrial("sessions", "decisions", one, "--where", "agent = pi", "--json")
    assert json.loads(done.out)["sessions"] == 0
    assert fairtrial("sessions", "decisions", "ses_nothing").code == 66


@pytest.mark.usefixtures("home")
def test_as_text(fairtrial: Command) -> None:
    text = fairtrial("sessions", "decisions", "--since", "3650d").out
    assert "unchanged-retry, chose badly\n    `pytest -q` again, unchanged (1 more like it)" in text
    assert "unchanged-retry: the agent makes a failed call again though nothing" in text
    shown = fairtrial(
        "sessions", "decisions", "--since", "3650d", "--agent", "codex", "--context", "1"
    ).out
    assert "… 2 earlier events" in shown
    assert "make: no rule" in shown
    before, _, after = shown.partition("◆ it decided, and then")
    assert ("make cart" in after, "Explain the cart." in before) == (True, False)


@pytest.mark.usefixtures("home")
def test_show_marks_decisions_at_their_turns(fairtrial: Command) -> None:
    listed = json.loads(fairtrial("sessions", "list", "--json").out)["sessions"]
    one = next(session["id"] for session in listed if session["agent"] == "codex")
    text = fairtrial("sessions", "show", one).out
    failed, _, again = text.partition("◆ unchanged-retry, chose badly: `make cart` again")
    assert failed.count("make: no rule") == again.count("make: no rule") == 1
    (point,) = json.loads(fairtrial("sessions", "show", one, "--json").out)["decisions"]
    assert (point["behavior"], point["bad"]) == ("unchanged-retry", True)


@pytest.mark.usefixtures("home")
def test_anchors_of_the_user(fairtrial: Command, folder: Path, found: Any) -> None:
    (folder / "own.py").write_text(SHOUTING)
    report = found("--anchor", "own.py")
    assert ("codex", "shouting", True) in kinds(report)
    assert ("shouting", False) in {
        (k[1], k[2]) for k in kinds(found("--anchor", "own.py", "--good"))
    }
    assert kinds(found("--anchor", "own.py", "--behavior", "shouting")) == [
        ("codex", "shouting", True)
    ]
    assert fairtrial("sessions", "decisions", "--anchor", "none.py").code == 66
    (folder / "broken.py").write_text("1 +")
    done = fairtrial("sessions", "decisions", "--anchor", "broken.py")
    assert done.code == 64
    assert "broken.py: the module could not be imported" in done.err
    assert "SyntaxError" in done.err
    assert "fix: " in done.err


@pytest.mark.usefixtures("home")
def test_an_anchor_that_fails_somewhere_costs_nothing_else(
    fairtrial: Command, folder: Path
) -> None:
    (folder / "own.py").write_text(
        SHOUTING.replace('print("looking")', "assert session.agent != 'codex', 'no codex'")
    )
    words = ("sessions", "decisions", "--since", "3650d", "--anchor", "own.py")
    done = fairtrial(*words)
    assert done.code == 0
    assert "The anchor shouting failed at 1 session, first at ses_" in done.out
    assert "AssertionError: no codex (own.py:" in done.out
    (trouble,) = json.loads(fairtrial(*words, "--json").out)["troubles"]
    assert (trouble["sessions"], trouble["broken"]) == (1, False)


@pytest.mark.usefixtures("home")
def test_an_anchor_that_fails_everywhere_is_a_wrong_option(
    fairtrial: Command, folder: Path
) -> None:
    (folder / "own.py").write_text(SHOUTING.replace("yield DecisionPoint(", "yield str("))
    done = fairtrial("sessions", "decisions", "--since", "3650d", "--anchor", "own.py")
    assert done.code == 64
    assert "failed at every session" in done.out
    assert "again, unchanged" in done.out


def test_options_that_exclude_each_other(fairtrial: Command) -> None:
    assert fairtrial("sessions", "decisions", "--good", "--all").code == 64
    done = fairtrial("sessions", "decisions", "--behavior", "unchanged_retry")
    assert (done.code, "did you mean 'unchanged-retry'" in done.err) == (64, True)
    assert fairtrial("sessions", "decisions", "-n", "0").code == 64
    assert fairtrial("sessions", "decisions", "--where", "agnet = codex").code == 64
    assert "Read new sessions with" in fairtrial("sessions", "decisions").out
