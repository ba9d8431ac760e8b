"""Sessions of pi."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.sessions.transcripts import OTHER, SESSION, as_bytes, read

from fairtrial.model.session import (
    ApiTrouble,
    Call,
    ChangeKind,
    Compaction,
    FileChange,
    Prompt,
    Relation,
    Result,
    ResultStatus,
    Said,
    SessionState,
    Thought,
    Usage,
)
from fairtrial.model.task import Tokens
from fairtrial.sessions.readers.pi.reader import PiReader

READER = PiReader()
AT = "2026-11-29T12:50:31.803Z"
USAGE = {"input": 100, "output": 50, "cacheRead": 1_000, "cacheWrite": 20, "totalTokens": 1_170}


def message(role: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {
        "type": "message",
        "id": "x",
        "timestamp": AT,
        "message": {"role": role, "content": content, **fields},
    }


def call(call_id: str, name: str, given: dict[str, Any]) -> dict[str, Any]:
    block = {"type": "toolCall", "id": call_id, "name": name, "arguments": given}
    return message("assistant", [block], model="m", usage=USAGE, responseId=f"r-{call_id}")


def result(call_id: str, text: str, *, failed: bool = False) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return message("toolResult", content, toolCallId=call_id, isError=failed)


def written(folder: Path, *records: dict[str, Any], **header: Any) -> Path:
    first = {"type": "session", "version": 3, "id": SESSION, "timestamp": AT, "cwd": "/r", **header}
    path = folder / f"2026-11-29T12-50-31-803Z_{SESSION}.jsonl"
    path.write_bytes(as_bytes([first, {"type": "model_change"}, *records]))
    return path


def test_a_session_is_read(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        message("user", [{"type": "text", "text": "Fix it"}]),
        message("assistant", [{"type": "thinking", "thinking": "Hm"}], model="m"),
        call("c1", "bash", {"command": "pytset"}),
        result("c1", "pytset: command not found\n\n\nCommand exited with code 127", failed=True),
        call("c2", "edit", {"path": "a.py", "edits": [{"oldText": "x", "newText": "y"}]}),
        result("c2", "Successfully replaced 1 block(s)."),
        message("assistant", [{"type": "text", "text": "Done."}], stopReason="stop"),
    )
    events, transcript = read(READER, path)
    kinds = [Prompt, Thought, Usage, Call, Result, Usage, Call, Result, Said]
    assert [type(event) for event in events] == kinds
    results = [event for event in events if isinstance(event, Result)]
    assert (results[0].status, results[0].exit_code) == (ResultStatus.NO_RUN, 127)
    assert results[1].changes == (FileChange("a.py", ChangeKind.UPDATE, "@@ -1 +1 @@\n-x\n+y\n"),)
    usage = events[2]
    assert isinstance(usage, Usage)
    assert (usage.message_id, usage.tokens) == ("r-c1", Tokens(100, 50, 1_000, 20))
    facts = transcript.facts()
    assert (facts.agent, facts.native_id, facts.cwd) == ("pi", SESSION, "/r")
    assert facts.state is SessionState.COMPLETED


def test_how_a_turn_may_end(tmp_path: Path) -> None:
    failed = message("assistant", [], stopReason="error", errorMessage="529 busy")
    events, transcript = read(READER, written(tmp_path, failed))
    assert isinstance(events[0], ApiTrouble)
    assert transcript.facts().state is SessionState.API_ERROR
    stopped = message("assistant", [], stopReason="aborted")
    transcript = read(READER, written(tmp_path, stopped))[1]
    assert transcript.facts().state is SessionState.INTERRUPTED


def test_a_fork_and_a_compaction(tmp_path: Path) -> None:
    record = {"type": "compaction", "summary": "So far", "timestamp": AT}
    events, transcript = read(
        READER, written(tmp_path, record, parentSession=f"/p/t_{OTHER}.jsonl")
    )
    assert isinstance(events[0], Compaction)
    assert (transcript.facts().parent, transcript.facts().relation) == (OTHER, Relation.FORK)


def test_what_is_not_known_is_counted(tmp_path: Path) -> None:
    odd = [{"type": "hologram"}, message("user", 5), message("assistant", "x", usage=3)]
    path = written(tmp_path, *odd)
    with path.open("ab") as file:
        file.write(b'{"type":"mess\n')
    unread = read(READER, path)[1].facts().unread
    assert (unread.unknown_records, unread.bad_lines) == ({"hologram": 1}, 1)


def test_only_a_header_of_pi_is_recognised() -> None:
    assert READER.recognises([{"type": "session", "version": 3, "cwd": "/r"}])
    assert not READER.recognises([{"type": "session"}])
    assert not READER.recognises([])


def test_what_pi_wrote_down_as_the_cost_counts(tmp_path: Path) -> None:
    usage = {"input": 1, "output": 2, "cost": {"input": 0.1, "total": 0.3}}
    free = {"input": 1, "output": 2, "cost": {"total": 0}}
    told = [{"role": "assistant", "content": [], "usage": one} for one in (usage, free)]
    records = [{"type": "message", "id": str(n), "message": one} for n, one in enumerate(told)]
    path = tmp_path / "x.jsonl"
    path.write_bytes(as_bytes(records))
    found = [event for event in read(READER, path)[0] if isinstance(event, Usage)]
    assert [event.cost_usd for event in found] == [0.3, None]
