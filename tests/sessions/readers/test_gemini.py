"""Chats of Gemini CLI."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.sessions.transcripts import SESSION, as_bytes, read

from fairtrial.model.session import (
    Call,
    ChangeKind,
    FileChange,
    Prompt,
    Result,
    ResultStatus,
    Said,
    SessionState,
    Thought,
    Usage,
)
from fairtrial.model.task import Tokens
from fairtrial.sessions.readers.gemini.reader import GeminiReader

READER = GeminiReader()
AT = "2026-11-29T12:53:10.161Z"
HEADER = {"sessionId": SESSION, "projectHash": "1c98", "startTime": AT, "kind": "main"}
CONTEXT = "<session_context>\n- **Workspace Directories:**\n  - /r\n</session_context>"


def user(name: str, *parts: Any) -> dict[str, Any]:
    return {"id": name, "timestamp": AT, "type": "user", "content": list(parts)}


def answer(name: str, text: str, *calls: dict[str, Any], **fields: Any) -> dict[str, Any]:
    tokens = {"input": 1_200, "output": 50, "cached": 1_000, "thoughts": 5}
    told = {"id": name, "timestamp": AT, "type": "gemini", "content": text, "tokens": tokens}
    return {**told, "model": "m", "toolCalls": list(calls), **fields}


def call(call_id: str, tool: str, args: Any, output: str, **fields: Any) -> dict[str, Any]:
    response = {"functionResponse": {"response": {"output": output}}}
    usual = {"id": call_id, "name": tool, "args": args, "status": "success", "timestamp": AT}
    return {**usual, "result": [response], **fields}


def written(folder: Path, *records: dict[str, Any]) -> Path:
    path = folder / "session-2026-11-29T12-53-11111111.jsonl"
    path.write_bytes(as_bytes([HEADER, *records]))
    return path


def test_a_chat_is_read_and_a_message_that_is_written_again_is_told_once(tmp_path: Path) -> None:
    ran = call("c1", "run_shell_command", {"command": "pytest"}, "1 failed\nExit Code: 1")
    diff = "Index: a.py\n--- a.py\n+++ a.py\n@@ -1 +1 @@\n-x\n+y\n"
    shown = {"fileDiff": diff, "filePath": "/r/a.py", "originalContent": "x\n"}
    edited = call("c2", "replace", {"file_path": "/r/a.py"}, "ok", resultDisplay=shown)
    path = written(
        tmp_path,
        {"$set": {"messages": [user("u0", {"text": CONTEXT})]}},
        user("u1", {"text": "Fix it"}),
        answer("m1", "I look.", thoughts=[{"subject": "s", "description": "Hm"}]),
        {"$set": {"lastUpdated": AT}},
        answer("m1", "I look.", {**ran, "result": None}),
        answer("m1", "I look.", ran, edited),
        user("u2", {"functionResponse": {"id": "c1"}}),
        answer("m2", "Done."),
    )
    events, transcript = read(READER, path)
    kinds = [Prompt, Usage, Thought, Said, Call, Result, Call, Result, Usage, Said]
    assert [type(event) for event in events] == kinds
    results = [event for event in events if isinstance(event, Result)]
    assert (results[0].status, results[0].exit_code) == (ResultStatus.FAIL, 1)
    change = FileChange("/r/a.py", ChangeKind.UPDATE, "@@ -1 +1 @@\n-x\n+y\n", "x\n")
    assert results[1].changes == (change,)
    usage = events[1]
    assert isinstance(usage, Usage)
    assert usage.tokens == Tokens(200, 55, 1_000, None, 5)
    facts = transcript.facts()
    assert (facts.native_id, facts.cwd, facts.first_prompt) == (SESSION, "/r", "Fix it")
    assert facts.state is SessionState.COMPLETED


def test_a_new_file_was_not_there(tmp_path: Path) -> None:
    shown = {"fileDiff": "@@ -0,0 +1 @@\n+x\n", "filePath": "/a", "isNewFile": True}
    told = call("c", "write_file", {"file_path": "/a"}, "ok", resultDisplay=shown)
    again = {**told, "id": "d", "resultDisplay": {**shown, "originalContent": "x"}}
    path = written(tmp_path, answer("m", "", told, again))
    results = [event for event in read(READER, path)[0] if isinstance(event, Result)]
    assert [(r.changes[0].created, r.changes[0].before) for r in results] == [
        (True, None),
        (False, None),
    ]


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"status": "cancelled"}, ResultStatus.DENIED),
        ({"status": "error"}, ResultStatus.FAIL),
        ({"status": "later"}, ResultStatus.UNKNOWN),
    ],
)
def test_how_a_call_ended(tmp_path: Path, fields: dict[str, Any], status: ResultStatus) -> None:
    path = written(tmp_path, answer("m1", "", call("c1", "read_file", {}, "no", **fields)))
    (result,) = (event for event in read(READER, path)[0] if isinstance(event, Result))
    assert result.status is status


def test_a_record_may_hold_anything(tmp_path: Path) -> None:
    odd: list[dict[str, Any]] = [
        {"type": "hologram"},
        {"$set": 5},
        {"$set": {"messages": [3, {"type": "user", "content": 7}]}},
        answer("m1", "x", {"id": 5}, {"id": "c", "args": [1], "result": "text"}, thoughts=[1]),
    ]
    unread = read(READER, written(tmp_path, *odd))[1].facts().unread
    assert unread.unknown_records == {"hologram": 1}


def test_only_a_header_of_gemini_is_recognised() -> None:
    assert READER.recognises([HEADER])
    assert not READER.recognises([{"sessionId": "x", "type": "user"}])
