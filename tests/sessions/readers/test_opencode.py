"""Sessions of OpenCode, from its database and from an export."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.sessions.opencode_database import SNAPSHOT, OpenCode
from tests.sessions.transcripts import untouched

from fairtrial.model.session import (
    ApiTrouble,
    Call,
    ChangeKind,
    Compaction,
    FileChange,
    Operation,
    Prompt,
    Relation,
    Result,
    ResultStatus,
    Said,
    SessionEvent,
    SessionState,
    Source,
    TranscriptFacts,
    TurnEnd,
    TurnEndReason,
    Usage,
)
from fairtrial.model.task import Tokens
from fairtrial.sessions.readers.opencode.reader import OpenCodeReader

READER = OpenCodeReader()
CALC = "/home/dev/shop/calc.py"
DIFF = f"Index: {CALC}\n===\n--- {CALC}\n+++ {CALC}\n@@ -1 +1 @@\n-x\n+y\n"


def read(path: str) -> tuple[list[SessionEvent], TranscriptFacts]:
    """Return the events and the facts of one session."""
    transcript = READER.start(Path(path), untouched)
    events: list[SessionEvent] = []
    for line in READER.source(path).lines(0):
        if line.data is None:
            transcript.clipped()
        else:
            events += transcript.feed(line.data)
    return events, transcript.facts()


def saved(opencode: OpenCode, folder: Path) -> str:
    return f"{opencode.save(folder / 'opencode.db')}#{opencode.session}"


def a_session() -> OpenCode:
    opencode = OpenCode()
    opencode.prompt("Fix add.", {"type": "text", "text": "<file/>", "synthetic": True})
    opencode.ran("pytest -q", "1 failed", 1)
    edit = opencode.tool(
        "edit",
        {"filePath": CALC, "oldString": "x", "newString": "y"},
        "Edit applied successfully.",
        {"diff": DIFF, "filediff": {"file": CALC, "patch": DIFF}},
    )
    new = opencode.tool("write", {"filePath": "/n.py", "content": "a\n"}, "ok", {"exists": False})
    opencode.answer({"type": "reasoning", "text": "Hm"}, edit, new)
    opencode.ran("pytest -q", "1 passed")
    return opencode.said("Done.")


def test_a_session_is_read_with_all_that_happened(tmp_path: Path) -> None:
    events, facts = read(saved(a_session(), tmp_path))
    prompt = events[0]
    assert isinstance(prompt, Prompt)
    assert (prompt.text, prompt.source) == ("Fix add.", Source.HUMAN)
    calls = [event for event in events if isinstance(event, Call)]
    assert [(call.operation, call.command, call.paths) for call in calls] == [
        (Operation.SHELL, "pytest -q", ()),
        (Operation.EDIT, None, (CALC,)),
        (Operation.WRITE, None, ("/n.py",)),
        (Operation.SHELL, "pytest -q", ()),
    ]
    results = [event for event in events if isinstance(event, Result)]
    assert [(result.status.value, result.exit_code) for result in results] == [
        ("fail", 1),
        ("ok", None),
        ("ok", None),
        ("ok", 0),
    ]
    assert [result.call_id for result in results] == [call.id for call in calls]
    assert results[1].changes == (FileChange(CALC, ChangeKind.UPDATE, "@@ -1 +1 @@\n-x\n+y\n"),)
    assert results[2].changes == (
        FileChange("/n.py", ChangeKind.ADD, "@@ -0,0 +1,1 @@\n+a\n", created=True),
    )
    assert results[0].duration_s == 0.5
    usages = [event for event in events if isinstance(event, Usage)]
    assert [(usage.cost_usd, usage.tokens) for usage in usages] == [
        (0.25, Tokens(100, 55, 1_000, 0, 5))
    ] * 4
    assert (facts.native_id, facts.cwd, facts.agent_version) == (
        "ses_one",
        "/home/dev/shop",
        "1.18.33",
    )
    assert facts.start_tree == SNAPSHOT
    assert (facts.state, facts.final_text) == (SessionState.COMPLETED, "Done.")
    assert facts.unread.records == 6
    assert (facts.unread.bad_lines, dict(facts.unread.unknown_records)) == (0, {})


def test_an_export_is_read_as_its_session_in_the_database_is(tmp_path: Path) -> None:
    stored = read(saved(a_session(), tmp_path))
    assert read(str(a_session().export(tmp_path / "x.json"))) == stored


@pytest.mark.parametrize(
    ("state", "metadata", "status"),
    [
        ({"error": "The user rejected permission to use this tool."}, {}, ResultStatus.DENIED),
        ({"error": "Tool execution aborted"}, {"interrupted": True}, ResultStatus.INTERRUPTED),
        ({"error": "The bash tool was called with invalid arguments"}, {}, ResultStatus.NO_RUN),
        ({"error": "boom"}, {}, ResultStatus.FAIL),
        ({}, {"exit": 127}, ResultStatus.NO_RUN),
        ({}, {"exit": None}, ResultStatus.UNKNOWN),
        ({"output": "terminated command after exceeding timeout 5 ms"}, {}, ResultStatus.FAIL),
    ],
)
def test_how_a_command_ended(
    tmp_path: Path, state: dict[str, Any], metadata: Any, status: ResultStatus
) -> None:
    opencode = OpenCode()
    part = opencode.tool("bash", {"command": "x"}, "out", metadata, **state)
    events, _ = read(saved(opencode.answer(part), tmp_path))
    assert [event.status for event in events if isinstance(event, Result)] == [status]


def test_a_tool_that_runs_has_no_result_yet(tmp_path: Path) -> None:
    opencode = OpenCode()
    part = opencode.tool("bash", {"command": "x"}, "", status="running")
    events, facts = read(saved(opencode.answer(part), tmp_path))
    assert not [event for event in events if isinstance(event, Result)]
    assert facts.state is SessionState.OPEN


def test_a_patch_of_several_files(tmp_path: Path) -> None:
    files = [
        {"filePath": "/a", "type": "update", "patch": DIFF},
        {"filePath": "/b", "type": "move", "movePath": "/c", "patch": ""},
        {"filePath": "/d", "type": "delete"},
        "what",
    ]
    opencode = OpenCode()
    text = "*** Begin Patch\n*** Update File: /a\n-x\n+y\n*** End Patch"
    part = opencode.tool("apply_patch", {"patchText": text}, "ok", {"files": files})
    events, facts = read(saved(opencode.answer(part), tmp_path))
    (result,) = (event for event in events if isinstance(event, Result))
    assert [(c.path, c.kind.value, c.to) for c in result.changes] == [
        ("/a", "update", None),
        ("/b", "move", "/c"),
        ("/d", "delete", None),
    ]
    assert facts.changed == ("/a", "/b", "/d")


def test_what_a_file_was_is_told_once(tmp_path: Path) -> None:
    opencode = OpenCode()
    told = {"filediff": {"file": CALC, "patch": DIFF, "before": "x\n"}}
    edits = [opencode.tool("edit", {"filePath": CALC}, "ok", told) for _ in range(2)]
    new = {"filePath": "/n.py", "content": "a"}
    writes = [opencode.tool("write", new, "ok", {"exists": False}) for _ in range(2)]
    events, _ = read(saved(opencode.answer(*edits, *writes), tmp_path))
    changes = [event.changes[0] for event in events if isinstance(event, Result)]
    assert [change.before for change in changes] == ["x\n", None, None, None]
    assert [change.created for change in changes] == [False, False, True, False]


def test_troubles_and_ends(tmp_path: Path) -> None:
    api = {"name": "APIError", "data": {"message": "overloaded", "statusCode": 529}}
    opencode = OpenCode().prompt("a")
    opencode.answer({"type": "retry", "attempt": 1, "error": api, "time": {"created": 1}})
    opencode.answer(error=api)
    opencode.answer(error={"name": "MessageAbortedError"})
    opencode.answer(error={"name": "MessageOutputLengthError"})
    events, facts = read(saved(opencode, tmp_path))
    troubles = [event for event in events if isinstance(event, ApiTrouble)]
    assert [(t.final, t.status, t.text) for t in troubles] == [
        (False, 529, "overloaded"),
        (True, 529, "overloaded"),
    ]
    ends = [event.reason for event in events if isinstance(event, TurnEnd)]
    assert ends == [TurnEndReason.INTERRUPTED, TurnEndReason.LIMIT]
    assert facts.state is SessionState.ENDED_BY_LIMIT


def test_a_summary_is_a_compaction(tmp_path: Path) -> None:
    opencode = OpenCode().prompt("a").said("b")
    opencode.prompt("", {"type": "compaction", "auto": True})
    opencode.said("What was", summary=True)
    events, facts = read(saved(opencode, tmp_path))
    found = [event for event in events if isinstance(event, Compaction)]
    assert [(event.trigger, event.summary) for event in found] == [("auto", "What was")]
    assert [event.text for event in events if isinstance(event, Said)] == ["b"]
    assert (facts.counts.compactions, facts.counts.turns) == (1, 1)


def test_a_subagent_and_a_fork_know_where_they_came_from(tmp_path: Path) -> None:
    parent = a_session()
    saved(parent, tmp_path)
    child = OpenCode("ses_two", parentID="ses_one").prompt("Look.").said("Seen.")
    events, facts = read(saved(child, tmp_path))
    assert (facts.parent, facts.relation) == ("ses_one", Relation.SUBAGENT)
    assert isinstance(events[0], Prompt)
    assert events[0].source is Source.AGENT
    fork = OpenCode("ses_three", at=parent.info["time"]["created"] + 900_000)
    fork.messages = list(parent.messages)
    copied, facts = read(saved(fork.prompt("And?"), tmp_path))
    assert (facts.parent, facts.relation) == ("ses_one", Relation.FORK)
    # The calls of models have the ids that they have in the origin.
    own = [event.message_id for event in copied if isinstance(event, Usage)]
    first = read(f"{tmp_path / 'opencode.db'}#ses_one")[0]
    assert own == [event.message_id for event in first if isinstance(event, Usage)]


def test_what_is_not_understood_is_counted(tmp_path: Path) -> None:
    opencode = OpenCode().prompt("a")
    opencode.answer('{"type": "text", ', {"type": "hologram"}, '"a text"', b"\xff\xfe")
    opencode.messages.append(({"role": "oracle", "time": {"created": "soon"}}, []))
    events, facts = read(saved(opencode, tmp_path))
    assert dict(facts.unread.unknown_records) == {"part hologram": 1, "message oracle": 1}
    assert facts.unread.bad_lines == 3
    assert len(events) == 2


def test_a_database_that_nobody_has_open_is_left_as_it_is(tmp_path: Path) -> None:
    path = a_session().save(tmp_path / "opencode.db")
    before = {entry.name: entry.stat().st_mtime_ns for entry in tmp_path.iterdir()}
    assert list(before) == ["opencode.db"]
    (found,) = READER.source(str(path)).inside()
    assert read(found.path)[0]
    assert {entry.name: entry.stat().st_mtime_ns for entry in tmp_path.iterdir()} == before


def test_who_writes_is_not_kept_waiting_and_what_is_not_committed_is_not_read(
    tmp_path: Path,
) -> None:
    path = a_session().save(tmp_path / "opencode.db")
    with closing(sqlite3.connect(path, timeout=0)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        OpenCode("ses_two").prompt("b").put(writer)
        source = READER.source(f"{path}#ses_one").lines(0)
        next(source)
        assert len(READER.source(str(path)).inside()) == 1
        writer.commit()  # while a reading is under way
        assert len(list(source)) == 5
        assert len(READER.source(str(path)).inside()) == 2


def test_only_what_is_told_as_changed_changes_a_session(tmp_path: Path) -> None:
    path = a_session().save(tmp_path / "opencode.db")
    other = OpenCode("ses_two", at=1_795_953_700_000).prompt("b")
    other.save(path)
    before = READER.source(str(path)).inside()
    other.said("c").save(path)
    after = READER.source(str(path)).inside()
    assert after[0] == before[0]
    assert after[1] != before[1]


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0garbage", b"SQLite format 3\0" * 90])
def test_what_is_no_database_is_told(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "opencode.db"
    path.write_bytes(content)
    source = READER.source(str(path))
    if not content:
        assert (list(source.inside()), list(source.lines(0))) == ([], [])
        return
    with pytest.raises(OSError, match="database cannot be read"):
        source.inside()


def test_a_database_whose_schema_is_no_text_is_told(tmp_path: Path) -> None:
    path = a_session().save(tmp_path / "opencode.db")
    data = path.read_bytes()
    assert b"time_updated INTEGER" in data
    path.write_bytes(data.replace(b"time_updated INTEGER", b"time_upda\xfed\xff INTEGER"))
    with pytest.raises(OSError, match="database cannot be read"):
        READER.source(str(path)).inside()


def test_a_database_of_another_form_is_told(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE session (id)")
    with pytest.raises(OSError, match="no such"):
        READER.source(str(path)).inside()


def test_databases_are_found_with_their_logs(tmp_path: Path) -> None:
    assert list(READER.files(tmp_path / "nothing")) == []
    path = a_session().save(tmp_path / "opencode-dev.db")
    (tmp_path / "other.db").write_bytes(b"")
    (found,) = READER.files(tmp_path)
    log = tmp_path / "opencode-dev.db-wal"
    log.write_bytes(b"x" * 100)
    os.utime(log, ns=(2**61, 2**61))
    (logged,) = READER.files(path)
    assert (logged.size, logged.changed_ns) == (found.size + 100, 2**61)


def test_whose_it_is() -> None:
    assert READER.recognises([{"tables": ["session", "message", "part", "todo"]}])
    assert not READER.recognises([{"tables": ["session"]}])
    assert READER.recognises([{"info": {"id": "ses_x"}, "messages": []}])
    assert not READER.recognises([{"info": {"id": "x"}, "messages": []}])
    assert not READER.recognises([])
