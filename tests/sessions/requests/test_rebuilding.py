"""The next request at decision points: as near as the transcript allows, and it says how near."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.sessions.requests.logging_claude import BLOCK, story
from tests.sessions.transcripts import SESSION, Claude, Codex, read, untouched

from fairtrial.model.call import Api
from fairtrial.model.decision_point import DecisionPoint
from fairtrial.model.next_turn import Fidelity, HarnessPlace, NextTurn
from fairtrial.model.session import (
    Counts,
    Result,
    Session,
    SessionEvent,
    SessionState,
    Unread,
)
from fairtrial.ports.sessions import SessionReader
from fairtrial.sessions.readers.claude_code.reader import ClaudeCodeReader
from fairtrial.sessions.readers.codex.reader import CodexReader
from fairtrial.sessions.requests.rebuilding import Means, next_turns


def _session(agent: str, path: Path, model: str) -> Session:
    return Session(
        id="ses_1",
        agent=agent,
        agent_version=None,
        native_id=SESSION,
        files=(str(path),),
        cwd="/home/dev/shop/api",
        repo="/home/dev/shop",
        branch=None,
        commit=None,
        models=(model,),
        started_at=None,
        ended_at=None,
        state=SessionState.COMPLETED,
        counts=Counts(),
        tokens=None,
        cost_usd=None,
        first_prompt=None,
        final_text=None,
        parent_id=None,
        relation=None,
        unread=Unread(),
        parser_version=1,
    )


def _numbered(events: list[SessionEvent]) -> list[SessionEvent]:
    return [replace(event, number=number) for number, event in enumerate(events, 1)]


def _after(events: list[SessionEvent], call_id: str, **fields: Any) -> DecisionPoint:
    number = next(e.number for e in events if isinstance(e, Result) and e.call_id == call_id)
    return DecisionPoint("done-while-failing", number, "", bad=True, **fields)


def _turn(agent: str, reader: SessionReader, path: Path, call_id: str, **fields: Any) -> NextTurn:
    events = _numbered(read(reader, path)[0])
    model = "claude-sonnet-5-5" if agent == "claude-code" else "gpt-5.5"
    means = Means(reader, untouched, "other-model", Api.ANTHROPIC_MESSAGES)
    (turn,) = next_turns(
        _session(agent, path, model), events, [_after(events, call_id, **fields)], means
    )
    return turn


def _at(turn: NextTurn) -> list[Any]:
    found = []
    for path in turn.place.at:
        value: Any = turn.call.body
        for name in path:
            value = value[name]
        found.append(value)
    return found


def test_a_logged_request_is_exact_and_knows_where_the_instructions_are(tmp_path: Path) -> None:
    claude = story()
    turn = _turn("claude-code", ClaudeCodeReader(), claude.write(tmp_path), "t3")
    assert (turn.fidelity, turn.why) == (Fidelity.EXACT, "")
    assert len(turn.call.body["messages"]) == len(claude.sent[2])
    assert _at(turn) == [BLOCK]
    assert (turn.place.root, turn.place.cwd) == ("/home/dev/shop", "api")


def test_without_a_log_the_conversation_is_as_it_was_recorded(tmp_path: Path) -> None:
    claude = Claude()
    claude.prompt("Fix add.")
    claude.next_message()
    claude.block({"type": "thinking", "thinking": "Hm.", "signature": "x"})
    claude.said("I look.")
    claude.call("t1", "Sonar", {"ping": 1})
    claude.result("t1", "pong")
    claude.ran("t2", "pytest -q", "1 failed", 1)
    claude.next_message()
    claude.said("Done.")
    turn = _turn("claude-code", ClaudeCodeReader(), claude.write(tmp_path), "t2")
    assert turn.fidelity is Fidelity.CONVERSATION
    assert "logs no requests" in turn.why
    body = turn.call.body
    assert [message["role"] for message in body["messages"]] == [
        "user", "assistant", "user", "assistant", "user",
    ]  # fmt: skip
    assert "thinking" not in json.dumps(body["messages"])
    assert "Done." not in json.dumps(body["messages"])
    assert {"Bash", "Edit", "Sonar"} <= {tool["name"] for tool in body["tools"]}
    assert body["model"] == "claude-sonnet-5-5"
    assert turn.place.at == ()


def test_the_model_is_the_one_that_worked_at_the_moment(tmp_path: Path) -> None:
    claude = Claude()
    claude.prompt("Fix add.")
    claude.ran("t1", "pytest -q", "1 failed", 1)
    for record in claude.records:
        if record["type"] == "assistant":
            record["message"]["model"] = "claude-haiku-4-5"
    claude.ran("t2", "pytest -q", "1 failed", 1)
    path = claude.write(tmp_path)
    models = [
        _turn("claude-code", ClaudeCodeReader(), path, name).call.body["model"]
        for name in ("t1", "t2")
    ]
    assert models == ["claude-haiku-4-5", "claude-sonnet-5-5"]


def test_what_was_taken_back_is_not_in_the_conversation(tmp_path: Path) -> None:
    claude = Claude()
    claude.prompt("Fix add.")
    first = claude.records[-1]["uuid"]
    claude.next_message()
    claude.said("A way that was taken back.")
    claude.prompt("No.", parentUuid=first)
    claude.ran("t1", "pytest -q", "1 failed", 1)
    turn = _turn("claude-code", ClaudeCodeReader(), claude.write(tmp_path), "t1")
    words = json.dumps(turn.call.body["messages"])
    assert "taken back" not in words
    assert "No." in words


def test_a_rollout_gives_its_items_word_by_word(tmp_path: Path) -> None:
    codex = Codex(base_instructions={"text": "You are an agent."})
    block = "# AGENTS.md instructions for /home/dev/shop\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>"
    content = [{"type": "input_text", "text": block}]
    codex.add("response_item", type="message", role="user", content=content)
    codex.prompt("Fix add.")
    codex.ran("c1", "pytest -q", "1 failed", 1)
    codex.said("Done.")
    turn = _turn("codex", CodexReader(), codex.write(tmp_path), "c1")
    assert turn.fidelity is Fidelity.CONVERSATION
    body = turn.call.body
    assert body["instructions"] == "You are an agent."
    assert [item["type"] for item in body["input"]] == [
        "message", "message", "function_call", "function_call_output",
    ]  # fmt: skip
    assert body["input"][-1]["output"].endswith("Output:\n1 failed")
    assert {"exec_command", "apply_patch"} <= {tool["name"] for tool in body["tools"]}
    assert _at(turn) == [block]


def test_instructions_of_the_user_alone_are_known_in_a_rollout(tmp_path: Path) -> None:
    codex = Codex()
    block = "# AGENTS.md instructions\n\n<INSTRUCTIONS>\nmine\n</INSTRUCTIONS>"
    content = [{"type": "input_text", "text": block}]
    codex.add("response_item", type="message", role="user", content=content)
    codex.prompt("Fix add.")
    codex.ran("c1", "pytest -q", "1 failed", 1)
    assert _at(_turn("codex", CodexReader(), codex.write(tmp_path), "c1")) == [block]


def test_a_compacted_rollout_goes_on_from_what_replaced_its_history(tmp_path: Path) -> None:
    codex = Codex()
    codex.prompt("An old thing.")
    kept = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Sum."}]}
    codex.add("compacted", message="", replacement_history=[kept])
    codex.ran("c1", "pytest -q", "1 failed", 1)
    words = json.dumps(_turn("codex", CodexReader(), codex.write(tmp_path), "c1").call.body)
    assert "An old thing." not in words
    assert "Sum." in words


def test_when_the_transcript_is_gone_the_kept_events_stand_in(tmp_path: Path) -> None:
    path = story().write(tmp_path)
    reader = ClaudeCodeReader()
    events = _numbered(read(reader, path)[0])
    path.unlink()
    means = Means(reader, untouched, "other", Api.ANTHROPIC_MESSAGES)
    session = _session("claude-code", path, "claude-sonnet-5-5")
    (turn,) = next_turns(session, events, [_after(events, "t3")], means)
    assert (turn.fidelity, turn.why) == (Fidelity.NEAR, "the transcript is gone")
    messages = turn.call.body["messages"]
    assert [message["role"] for message in messages] == [
        "user", "assistant", "user", "assistant", "user",
    ]  # fmt: skip
    assert "1 failed" in json.dumps(messages[-1])


@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_what_stands_in_the_place_of_a_transcript_is_not_waited_for(
    tmp_path: Path, kind: str
) -> None:
    path = story().write(tmp_path)
    reader = ClaudeCodeReader()
    events = _numbered(read(reader, path)[0])
    path.unlink()
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/zero")
        case _:
            path.mkdir()
    means = Means(reader, untouched, "other", Api.ANTHROPIC_MESSAGES)
    session = _session("claude-code", path, "claude-sonnet-5-5")
    (turn,) = next_turns(session, events, [_after(events, "t3")], means)
    said = "the transcript cannot be read: it is no file"
    assert (turn.fidelity, turn.why) == (Fidelity.NEAR, said)


def test_kept_events_of_codex_become_items(tmp_path: Path) -> None:
    codex = Codex()
    codex.prompt("Fix add.")
    codex.ran("c1", "pytest -q", "1 failed", 1)
    path = codex.write(tmp_path)
    reader = CodexReader()
    events = _numbered(read(reader, path)[0])
    path.unlink()
    means = Means(reader, untouched, "other", Api.ANTHROPIC_MESSAGES)
    (turn,) = next_turns(_session("codex", path, "gpt-5.5"), events, [_after(events, "c1")], means)
    assert turn.call.api is Api.OPENAI_RESPONSES
    assert [item["type"] for item in turn.call.body["input"]] == [
        "message", "function_call", "function_call_output",
    ]  # fmt: skip


def test_a_subagents_moment_is_made_of_kept_events(tmp_path: Path) -> None:
    path = story().write(tmp_path)
    reader = ClaudeCodeReader()
    events = _numbered(read(reader, path)[0])
    inside = [replace(event, thread="sub") for event in events]
    point = _after(inside, "t3", thread="sub")
    means = Means(reader, untouched, "other", Api.ANTHROPIC_MESSAGES)
    session = _session("claude-code", path, "claude-sonnet-5-5")
    (turn,) = next_turns(session, inside, [point], means)
    assert turn.fidelity is Fidelity.NEAR
    assert "subagent" in turn.why


def test_secrets_are_taken_out_of_requests(tmp_path: Path) -> None:
    path = story().write(tmp_path)
    reader = ClaudeCodeReader()
    events = _numbered(read(reader, path)[0])
    means = Means(
        reader,
        lambda line: line.replace(b"Fix add.", b"[secret]"),
        "other",
        Api.ANTHROPIC_MESSAGES,
    )
    session = _session("claude-code", path, "claude-sonnet-5-5")
    (turn,) = next_turns(session, events, [_after(events, "t3")], means)
    assert "Fix add." not in json.dumps(turn.call.body)


def test_a_place_of_a_harness_is_read_as_it_was_written() -> None:
    place = HarnessPlace("codex", "/r", "a/b", (("input", 1, "content", 0, "text"),))
    assert HarnessPlace.read(json.loads(json.dumps(place.content()))) == place
