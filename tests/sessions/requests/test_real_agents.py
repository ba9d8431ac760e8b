"""Requests rebuilt from transcripts of the real agents are those that the model got."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.sessions.requests.test_rebuilding import _numbered, _session
from tests.sessions.start_state.agents import Agent, needs_agents
from tests.sessions.transcripts import read, untouched

from fairtrial.model.call import Api, ToolUse
from fairtrial.model.decision_point import DecisionPoint
from fairtrial.model.next_turn import Fidelity, NextTurn
from fairtrial.model.session import Result
from fairtrial.ports.sessions import SessionReader
from fairtrial.sessions.readers.claude_code.reader import ClaudeCodeReader
from fairtrial.sessions.readers.codex.reader import CodexReader
from fairtrial.sessions.requests.rebuilding import Means, next_turns

pytestmark = needs_agents


def _rebuilt(agent: str, reader: SessionReader, home: Path) -> list[NextTurn]:
    (path,) = [Path(found.path) for found in reader.files(home)]
    events = _numbered(read(reader, path)[0])
    results = [event for event in events if isinstance(event, Result)]
    points = [DecisionPoint("x", event.number, "", bad=True) for event in results]
    means = Means(reader, untouched, "m", Api.ANTHROPIC_MESSAGES)
    session = _session(agent, path, "claude-sonnet-5-5" if agent == "claude-code" else "gpt-5.5")
    return next_turns(session, events, points, means)


def _plain(message: Any) -> Any:
    """Return a message without marks for the cache; a text alone may be sent as a list, too."""
    content = message["content"]
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    blocks = [{k: v for k, v in block.items() if k != "cache_control"} for block in content]
    return {**message, "content": blocks}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    (folder / "notes.txt").write_text("one\n")
    return folder


def test_claude_code_logs_what_it_sends(tmp_path: Path, repo: Path) -> None:
    agent = Agent("claude-code", tmp_path / "home")
    steps = [
        [ToolUse("t1", "Read", {"file_path": str(repo / "notes.txt")})],
        [
            ToolUse("t2", "Bash", {"command": "exit 3"}),
            ToolUse("t3", "Bash", {"command": "echo é"}),
        ],
    ]
    requests = agent.run(repo, steps)
    turns = _rebuilt("claude-code", ClaudeCodeReader(), tmp_path / "home/claude/projects")
    assert [(turn.fidelity, turn.why) for turn in turns] == [(Fidelity.EXACT, "")] * 3
    for turn, number in zip(turns, (1, 2, 2), strict=True):
        sent: Any = requests[number]
        assert [_plain(m) for m in turn.call.body["messages"]] == [
            _plain(m) for m in sent["messages"]
        ]
        assert turn.call.body["tools"] == sent["tools"]
        # The first system block tells the release for the bill, and is not logged.
        assert turn.call.body["system"] == sent["system"][1:]


def test_codex_sends_the_items_of_its_rollout(tmp_path: Path, repo: Path) -> None:
    agent = Agent("codex", tmp_path / "home")
    requests = agent.run(repo, [[ToolUse("c1", "exec_command", {"cmd": "cat notes.txt"})]])
    (turn,) = _rebuilt("codex", CodexReader(), tmp_path / "home/codex/sessions")
    assert turn.fidelity is Fidelity.CONVERSATION
    sent: Any = requests[1]
    # Its own instructions come first there; they differ from those of the rollout by some lines.
    assert turn.call.body["input"] == sent["input"][1:]
    assert turn.call.body["instructions"][:500] == sent["input"][0]["content"][0]["text"][:500]
