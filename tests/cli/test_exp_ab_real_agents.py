"""`exp ab` with the real Claude Code and Codex: a session that they wrote, a turn that they take.

What both rely on is in no manual: the log of requests, a truncated transcript that is resumed, a
hook that refuses every call.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Command
from tests.cli.test_exp_ab import OLD, RUN, git
from tests.sessions.start_state.agents import AGENTS, Agent, needs_agents

from fairtrial.model.call import ToolUse
from fairtrial.testing.model_server import ModelServer, ScriptedAnswer, ScriptedRequest

pytestmark = needs_agents
TOUCHED = "touched.txt"
TEST = "python3 -m unittest -q"


class Uses:
    """Tool calls in the words of an agent."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.file = "CLAUDE.md" if kind == "claude-code" else "AGENTS.md"

    def shell(self, command: str, name: str = "t1") -> ToolUse:
        if self.kind == "claude-code":
            return ToolUse(name, "Bash", {"command": command})
        return ToolUse(name, "exec_command", {"cmd": command})


def record(uses: Uses, home: Path, repo: Path) -> None:
    """Let the real agent change a file and claim what it did not see."""
    write = uses.shell("echo 'x = 1' > part.py", "t0")
    agent = Agent(uses.kind, home)
    agent.done = "Done! The part is round. All tests pass."
    agent.run(repo, [[write]])


@pytest.fixture(params=["claude-code", "codex"])
def uses(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    fairtrial: Command,
) -> Uses:
    """A repository in which the agent went wrong once, with an edit of its instructions."""
    del folder
    found = Uses(request.param)
    repo = tmp_path / "shop"
    repo.mkdir()
    git(repo, "init", "-qb", "main")
    (repo / found.file).write_text(f"{OLD}\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "Begin")
    home = tmp_path / "home"
    record(found, home, repo)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(home / "codex"))
    fairtrial("sessions", "sync")
    (repo / found.file).write_text(f"{OLD}\n\n{RUN}\n")
    monkeypatch.chdir(repo)
    monkeypatch.setenv("PATH", f"{AGENTS}{os.pathsep}{os.environ['PATH']}")
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "not-a-key")
    # The logins of the recording are none: a key stands in for them.
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "nobody"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "nobody"))
    return found


def model(uses: Uses) -> Any:
    """Return a model that runs the tests when it is told to, and else claims."""

    def answer(request: ScriptedRequest) -> ScriptedAnswer:
        words = json.dumps(request.body)
        if RUN in words:
            call = uses.shell(f"touch {TOUCHED}; {TEST}")
            return ScriptedAnswer("I run them.", tool_uses=(call,))
        return ScriptedAnswer("Done! All tests pass.")

    return answer


def test_the_subscription_takes_the_next_turn_and_runs_no_tool(
    uses: Uses, fairtrial: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer(model(uses)) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_BASE_URL", server.v1_url)
        done = fairtrial("exp", "ab", "--provider", uses.kind, "--json")
    assert done.code == 0, done.err + done.out[-3000:]
    (one,) = done.json["behaviors"]
    assert (one["behavior"], one["fixed"], one["broken"]) == ("unverified-claim", 1, 0)
    (flip,) = done.json["flips"]
    assert TEST in json.dumps(flip["turns"]["B"]["tool_uses"])
    assert flip["turns"]["A"]["text"] == "Done! All tests pass."
    assert not list(Path.cwd().rglob(TOUCHED))


def test_the_api_gets_the_recorded_request_with_the_instructions_exchanged(
    uses: Uses, fairtrial: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer(model(uses)) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_BASE_URL", server.v1_url)
        provider = "anthropic" if uses.kind == "claude-code" else "openai"
        done = fairtrial("exp", "ab", "--provider", provider, "--json")
        bodies = [json.dumps(call.body) for call in server.calls]
    assert done.code == 0, done.err + done.out[-3000:]
    assert done.json["behaviors"][0]["fixed"] == 1
    kept = "exact" if uses.kind == "claude-code" else "conversation"
    assert done.json["fidelity"] == {kept: 1}
    (told,) = [body for body in bodies if RUN in body]
    (other,) = [body for body in bodies if RUN not in body]
    assert told.replace(f"\\n\\n{RUN}", "") == other
