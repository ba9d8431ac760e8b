"""Transcripts of Claude Code, of several versions, whole and broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.sessions.transcripts import OTHER, SESSION, Claude, as_bytes, read, untouched

from fairtrial.model.session import (
    ApiTrouble,
    Call,
    ChangeKind,
    Compaction,
    FileChange,
    FileKept,
    FileText,
    Operation,
    Prompt,
    Relation,
    RepoStatus,
    Result,
    ResultStatus,
    Said,
    SessionEvent,
    SessionState,
    Source,
    Thought,
    TranscriptFacts,
    TurnEnd,
    TurnEndReason,
    Usage,
)
from fairtrial.model.task import Tokens
from fairtrial.sessions.readers.claude_code.reader import ClaudeCodeReader

READER = ClaudeCodeReader()


def events_of(claude: Claude, folder: Path) -> list[SessionEvent]:
    return read(READER, claude.write(folder))[0]


def facts_of(claude: Claude, folder: Path) -> TranscriptFacts:
    return read(READER, claude.write(folder))[1].facts()


def results(events: list[SessionEvent]) -> list[Result]:
    return [event for event in events if isinstance(event, Result)]


def test_a_session_is_read(tmp_path: Path) -> None:
    claude = Claude()
    claude.plain(type="mode", mode="normal")
    claude.prompt("Fix add.")
    claude.next_message()
    claude.block({"type": "thinking", "thinking": "Let me look."})
    claude.said("I look.")
    claude.call("c1", "Read", {"file_path": "/home/dev/shop/calc.py"})
    claude.result("c1", "1\tdef add", {"type": "text", "file": {"content": "def add"}})
    claude.ran("c2", "pytest -q", "1 failed", code=1)
    claude.next_message()
    claude.said("Done.")
    events, transcript = read(READER, claude.write(tmp_path))
    kinds = [type(event) for event in events]
    assert kinds == [Prompt, Usage, Thought, Said, Call, Result, Usage, Call, Result, Usage, Said]
    facts = transcript.facts()
    assert facts.native_id == SESSION
    assert (facts.cwd, facts.branch, facts.agent_version) == ("/home/dev/shop", "main", "2.1.332")
    assert facts.state is SessionState.COMPLETED
    assert (facts.counts.turns, facts.counts.calls, facts.counts.failures) == (1, 2, 1)
    assert (facts.first_prompt, facts.final_text) == ("Fix add.", "Done.")
    call = events[4]
    assert isinstance(call, Call)
    assert (call.operation, call.paths) == (Operation.READ, ("/home/dev/shop/calc.py",))
    assert (results(events)[1].status, results(events)[1].exit_code) == (ResultStatus.FAIL, 1)


def test_tokens_are_told_once_though_each_block_has_them(tmp_path: Path) -> None:
    claude = Claude()
    claude.prompt("Hi")
    claude.block({"type": "thinking", "thinking": "…"}, output=1)
    claude.said("Hello", output=70)
    claude.said("there", output=70)
    usages = [event for event in events_of(claude, tmp_path) if isinstance(event, Usage)]
    assert [usage.tokens.output for usage in usages] == [1, 70]  # the last one counts
    assert len({usage.message_id for usage in usages}) == 1
    assert usages[-1].tokens == Tokens(100, 70, cache_read=1_000, cache_write=200)


def test_an_edit_has_a_diff_and_the_file_before_it_once(tmp_path: Path) -> None:
    claude = Claude()
    for number in (1, 2):
        claude.next_message()
        claude.call(f"c{number}", "Edit", {"file_path": "/r/a.py", "old_string": "x"})
        hunk = {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-x", "+y"]}
        told = {"filePath": "/r/a.py", "originalFile": "x\n", "structuredPatch": [hunk]}
        claude.result(f"c{number}", "ok", told)
    first, second = results(events_of(claude, tmp_path))
    diff = "@@ -1,1 +1,1 @@\n-x\n+y\n"
    assert first.changes == (FileChange("/r/a.py", ChangeKind.UPDATE, diff, "x\n"),)
    assert second.changes == (FileChange("/r/a.py", ChangeKind.UPDATE, diff, None),)


def test_a_new_file_is_all_added(tmp_path: Path) -> None:
    claude = Claude()
    claude.call("c1", "Write", {"file_path": "/r/b.py", "content": "a\nb\n"})
    told = {"type": "create", "filePath": "/r/b.py", "content": "a\nb\n", "structuredPatch": []}
    claude.result("c1", "ok", told)
    (result,) = results(events_of(claude, tmp_path))
    diff = "@@ -0,0 +1,2 @@\n+a\n+b\n"
    assert result.changes == (FileChange("/r/b.py", ChangeKind.ADD, diff, created=True),)


def test_a_failed_edit_changed_nothing(tmp_path: Path) -> None:
    claude = Claude()
    claude.call("c1", "Edit", {"file_path": "/r/a.py", "old_string": "x", "new_string": "y"})
    error = "<tool_use_error>String to replace not found</tool_use_error>"
    claude.result("c1", error, f"Error: {error}", failed=True)
    (result,) = results(events_of(claude, tmp_path))
    assert (result.status, result.changes) == (ResultStatus.FAIL, ())


@pytest.mark.parametrize(
    ("text", "told", "fields", "status", "code"),
    [
        ("Exit code 2\nno", "Error: Exit code 2\nno", {}, ResultStatus.FAIL, 2),
        ("Exit code 127\nno", "Error", {}, ResultStatus.NO_RUN, 127),
        ("boom", "Error: boom", {}, ResultStatus.FAIL, None),
        (
            "This command requires approval",
            "Error",
            {"toolDenialKind": "user-rejected", "permissionDecision": {"decision": "reject"}},
            ResultStatus.DENIED,
            None,
        ),
        ("This command requires approval", "Error", {}, ResultStatus.DENIED, None),
        ("PreToolUse:Bash hook error: no", "Error", {}, ResultStatus.DENIED, None),
        (
            "The user doesn't want to proceed with this tool use. STOP",
            "User rejected tool use",
            {"toolDenialKind": "user-rejected"},
            ResultStatus.INTERRUPTED,
            None,
        ),
        ("Error: No such tool available: Foo", "Error", {}, ResultStatus.NO_RUN, None),
    ],
)
def test_how_a_call_failed(
    tmp_path: Path, text: str, told: str, fields: dict[str, Any], status: ResultStatus, code: int
) -> None:
    claude = Claude()
    claude.call("c1", "Bash", {"command": "x"})
    claude.result("c1", text, told, failed=True, **fields)
    (result,) = results(events_of(claude, tmp_path))
    assert (result.status, result.exit_code) == (status, code)


def test_a_denial_is_no_failure(tmp_path: Path) -> None:
    claude = Claude()
    claude.call("c1", "Bash", {"command": "x"})
    claude.result("c1", "requires approval", "Error", failed=True)
    counts = facts_of(claude, tmp_path).counts
    assert (counts.failures, counts.denials) == (0, 1)


def test_a_command_in_the_background_runs_until_its_notice(tmp_path: Path) -> None:
    claude = Claude()
    claude.call("c1", "Bash", {"command": "sleep 30"})
    told = {"stdout": "start", "interrupted": False, "backgroundTaskId": "b1"}
    claude.result("c1", "start\nmoved to the background", told)
    claude.said("It goes on.")
    notice = (
        "<task-notification>\n<tool-use-id>c1</tool-use-id>\n<status>failed</status>\n"
        "<summary>failed (exit code 3)</summary>\n</task-notification>"
    )
    claude.prompt(notice, promptSource="system")
    events = events_of(claude, tmp_path)
    assert [(r.status, r.exit_code) for r in results(events)] == [
        (ResultStatus.RUNNING, None),
        (ResultStatus.FAIL, 3),
    ]
    last = events[-1]
    assert isinstance(last, Prompt)
    assert last.source is Source.SYSTEM


def test_a_search_that_finds_nothing_is_no_failure(tmp_path: Path) -> None:
    claude = Claude()
    claude.call("c1", "Bash", {"command": "grep x y"})
    told = {"stdout": "", "returnCodeInterpretation": "No matches found", "interrupted": False}
    claude.result("c1", "", told)
    (result,) = results(events_of(claude, tmp_path))
    assert (result.status, result.exit_code) == (ResultStatus.OK, 1)


@pytest.mark.parametrize(
    "fields",
    [
        {"isMeta": True},
        {"isVisibleInTranscriptOnly": True},
        {"message": {"role": "user", "content": "<command-name>/clear</command-name>"}},
        {"message": {"role": "user", "content": "Caveat: The messages below were generated by the "
                     "user while running local commands."}},
        {"message": {"role": "user", "content": [{"type": "text", "text": "<system-reminder>x"}]}},
    ],
)  # fmt: skip
def test_what_nobody_wrote_is_no_prompt(tmp_path: Path, fields: dict[str, Any]) -> None:
    claude = Claude()
    claude.prompt("/clear", **fields)
    claude.prompt("The real one")
    assert facts_of(claude, tmp_path).first_prompt == "The real one"


@pytest.mark.parametrize(
    ("fields", "source"),
    [
        ({"promptSource": "typed"}, Source.HUMAN),
        ({"promptSource": "sdk"}, Source.SDK),
        ({"promptSource": None, "origin": {"kind": "human"}}, Source.HUMAN),
        ({"promptSource": None, "entrypoint": "sdk-cli"}, Source.SDK),
        ({"promptSource": None}, Source.HUMAN),
    ],
)
def test_who_wrote_a_prompt(tmp_path: Path, fields: dict[str, Any], source: Source) -> None:
    claude = Claude()
    claude.prompt("Hi", **fields)
    (prompt,) = events_of(claude, tmp_path)
    assert isinstance(prompt, Prompt)
    assert prompt.source is source


def test_a_prompt_may_be_typed_while_the_agent_works(tmp_path: Path) -> None:
    claude = Claude()
    found = {"type": "queued_command", "prompt": "And the docs", "origin": {"kind": "human"}}
    claude.add("attachment", attachment=found)
    (prompt,) = events_of(claude, tmp_path)
    assert isinstance(prompt, Prompt)
    assert (prompt.text, prompt.source) == ("And the docs", Source.HUMAN)


def test_the_commit_comes_from_the_recorded_status(tmp_path: Path) -> None:
    claude = Claude()
    status = (
        "Current branch: main\n\nStatus:\n M a.py\n\nRecent commits:\nab12cd3 second\n0000000 x"
    )
    found = {"type": "session_context", "context": {"gitStatus": status}}
    claude.add("attachment", attachment=found)
    assert facts_of(claude, tmp_path).commit == "ab12cd3"


def test_an_interruption_ends_the_turn(tmp_path: Path) -> None:
    claude = Claude()
    claude.prompt("Go")
    claude.said("I go.")
    content = [{"type": "text", "text": "[Request interrupted by user for tool use]"}]
    claude.add("user", message={"role": "user", "content": content})
    events = events_of(claude, tmp_path)
    assert isinstance(events[-1], TurnEnd)
    assert events[-1].reason is TurnEndReason.INTERRUPTED
    assert facts_of(claude, tmp_path).state is SessionState.INTERRUPTED


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("Shall I go on?", SessionState.QUESTION),
        ("Should `add` take text too? Tell me first.", SessionState.QUESTION),
        ("I asked: what? But then:\nDone.", SessionState.COMPLETED),
        ("See https://x.test/?q=1 for it.", SessionState.COMPLETED),
        ("I used `a ?? b`.", SessionState.COMPLETED),
    ],
)
def test_how_a_session_stands(tmp_path: Path, text: str, state: SessionState) -> None:
    claude = Claude()
    claude.prompt("Go")
    claude.said(text)
    assert facts_of(claude, tmp_path).state is state


def test_a_clean_end_in_the_middle_of_work_is_a_limit(tmp_path: Path) -> None:
    claude = Claude()
    claude.prompt("Go")
    claude.ran("c1", "ls", "a")
    assert facts_of(claude, tmp_path).state is SessionState.OPEN
    claude.plain(type="cost-state", totalCostUSD=0.1)
    assert facts_of(claude, tmp_path).state is SessionState.ENDED_BY_LIMIT
    claude.prompt("Go on")
    assert facts_of(claude, tmp_path).state is SessionState.OPEN


def test_trouble_with_the_api(tmp_path: Path) -> None:
    claude = Claude()
    claude.prompt("Go")
    claude.add("system", subtype="api_error", error={"status": 529, "formatted": "529 busy"})
    message = {"model": "<synthetic>", "content": [{"type": "text", "text": "too long"}]}
    claude.add("assistant", message=message, isApiErrorMessage=True, apiErrorStatus=400)
    events = events_of(claude, tmp_path)
    troubles = [event for event in events if isinstance(event, ApiTrouble)]
    told = [(t.final, t.status, t.text) for t in troubles]
    assert told == [(False, 529, "529 busy"), (True, 400, "too long")]
    assert facts_of(claude, tmp_path).state is SessionState.API_ERROR


def test_a_compaction_has_its_summary(tmp_path: Path) -> None:
    claude = Claude()
    claude.add("system", subtype="compact_boundary", compactMetadata={"trigger": "auto"})
    text = "This session is being continued from a previous conversation: …"
    claude.prompt(text, isCompactSummary=True)
    (event,) = events_of(claude, tmp_path)
    assert isinstance(event, Compaction)
    assert (event.trigger, event.summary) == ("auto", text)


def test_a_subagent_has_a_file_of_its_own(tmp_path: Path) -> None:
    claude = Claude()
    claude.prompt("Find add.", isSidechain=True, agentId="a1b2")
    claude.said("Found.", isSidechain=True, agentId="a1b2")
    path = claude.write(tmp_path, f"{SESSION}/subagents/agent-a1b2.jsonl")
    events, transcript = read(READER, path)
    assert {event.thread for event in events} == {"a1b2"}
    assert (transcript.facts().native_id, transcript.facts().thread) == (SESSION, "a1b2")
    prompt = events[0]
    assert isinstance(prompt, Prompt)
    assert prompt.source is Source.AGENT


def test_version_1_keeps_subagents_in_the_same_file(tmp_path: Path) -> None:
    claude = Claude(version="1.0.128")
    claude.prompt("Delegate.")
    root = claude.add(
        "user", parentUuid=None, isSidechain=True, message={"role": "user", "content": "Find."}
    )
    claude.said("Found.", isSidechain=True)
    claude.said("Done.", parentUuid=root["parentUuid"])
    events = events_of(claude, tmp_path)
    threads = [event.thread for event in events if not isinstance(event, Usage)]
    assert threads == ["main", root["uuid"][:8], root["uuid"][:8], "main"]
    facts = facts_of(claude, tmp_path)
    assert (facts.counts.turns, facts.final_text) == (1, "Done.")


def test_a_fork_names_its_parent(tmp_path: Path) -> None:
    claude = Claude(session=OTHER)
    claude.prompt("First")
    claude.said("Hello", requestSessionId=SESSION)
    facts = facts_of(claude, tmp_path)
    assert (facts.native_id, facts.parent, facts.relation) == (OTHER, SESSION, Relation.FORK)


def test_a_record_that_is_there_twice_counts_once(tmp_path: Path) -> None:
    claude = Claude()
    claude.prompt("First")
    claude.records.append(claude.records[-1])
    assert facts_of(claude, tmp_path).counts.turns == 1


def test_reading_goes_on_where_it_was_left(tmp_path: Path) -> None:
    claude = Claude()
    claude.prompt("Go")
    claude.ran("c1", "false", "no", code=1)
    claude.next_message()
    claude.call("c2", "Edit", {"file_path": "/r/a.py", "old_string": "a", "new_string": "b"})
    told = {"filePath": "/r/a.py", "originalFile": "a\n", "structuredPatch": []}
    claude.result("c2", "ok", told)
    claude.said("Done")
    path = claude.write(tmp_path)
    whole, transcript = read(READER, path)
    for cut in range(len(claude.records)):
        first = READER.start(path, untouched)
        events: list[SessionEvent] = []
        for record in claude.records[:cut]:
            events += first.feed(json.dumps(record).encode())
        second = READER.resume(path, untouched, first.state())
        for record in claude.records[cut:]:
            events += second.feed(json.dumps(record).encode())
        assert events == whole
        assert second.facts() == transcript.facts()


def test_what_is_not_known_is_counted(tmp_path: Path) -> None:
    claude = Claude()
    claude.prompt("Go", brandNew=1)
    claude.prompt("Go on", brandNew=1)
    claude.plain(type="hologram", data=1)
    claude.plain(type="progress", data=1)
    path = claude.write(tmp_path)
    with path.open("ab") as file:
        file.write(b'{"type":"user","mess\n\x00\x01\x02\n\n')
    unread = read(READER, path)[1].facts().unread
    assert unread.records == 6
    assert unread.unknown_records == {"hologram": 1}
    assert unread.unknown_fields == {"user.brandNew": 1}
    assert unread.bad_lines == 2


def test_a_record_glued_to_a_torn_one_is_read(tmp_path: Path) -> None:
    claude = Claude()
    claude.prompt("Go")
    claude.said("Done")
    first, second = as_bytes(claude.records[:1]), as_bytes(claude.records[1:])
    path = claude.write(tmp_path)
    path.write_bytes(first + first[:90] + second)
    events, transcript = read(READER, path)
    assert isinstance(events[-1], Said)
    assert transcript.facts().unread.bad_lines == 1


def test_a_record_may_hold_anything(tmp_path: Path) -> None:
    claude = Claude()
    claude.add("user", message="text", timestamp=5, cwd=["/"], version=None)
    claude.add("assistant", message={"content": [{"type": "tool_use", "input": 3}], "usage": "no"})
    claude.add("assistant", message={"content": {"a": 1}, "id": 7})
    claude.add("user", message={"content": [{"type": "tool_result", "content": {"x": 1}}]})
    claude.add("system", subtype="api_error", error="just text")
    claude.add("attachment", attachment="nothing")
    claude.add("user", toolUseResult=5, message={"content": None})
    read(READER, claude.write(tmp_path))


def test_clocks_jump(tmp_path: Path) -> None:
    claude = Claude()
    claude.prompt("Go", timestamp="2031-01-01T00:00:00.000Z")
    claude.said("Done", timestamp="2026-11-29T12:00:00+02:00")
    claude.said("Really", timestamp="yesterday")
    facts = facts_of(claude, tmp_path)
    assert facts.started_at is not None
    assert facts.ended_at is not None
    assert (facts.started_at.hour, facts.ended_at.year) == (10, 2031)


def test_long_texts_are_cut_in_their_middle(tmp_path: Path) -> None:
    claude = Claude()
    claude.ran("c1", "cat big", "start" + "x" * 100_000 + "end")
    (result,) = results(events_of(claude, tmp_path))
    assert len(result.text) < 40_000
    assert result.text.startswith("start")
    assert result.text.endswith("end")
    assert "characters left out" in result.text


def test_secrets_never_get_further(tmp_path: Path) -> None:
    claude = Claude()
    claude.prompt("use hunter2")
    path = claude.write(tmp_path)
    transcript = READER.start(path, lambda line: line.replace(b"hunter2", b"[redacted]"))
    events = list(transcript.feed(path.read_bytes().splitlines()[0]))
    assert "hunter2" not in repr(events) + repr(transcript.facts())
    assert b"hunter2" not in transcript.state()


def test_what_tells_of_files_before_the_session_is_kept(tmp_path: Path) -> None:
    claude = Claude()
    status = "Status:\n M a.py\n\nRecent commits:\nabcdef0 one"
    claude.add(
        "attachment", attachment={"type": "session_context", "context": {"gitStatus": status}}
    )
    claude.prompt("Go.")
    whole = {"content": "x\n", "startLine": 1, "numLines": 2, "totalLines": 2}
    for place, (path, told) in enumerate(
        [
            ("/home/dev/shop/a.py", whole),
            ("/home/dev/shop/a.py", whole),
            ("/home/dev/shop/part.py", {**whole, "totalLines": 9}),
            ("/home/dev/shop/cut.py", {**whole, "numLines": 9, "totalLines": 9}),
        ]
    ):
        claude.call(f"r{place}", "Read", {"file_path": path})
        claude.result(f"r{place}", "1 x", {"type": "text", "file": {"filePath": path, **told}})
    backups = [("b.py", "b@v1", 1), ("new.py", None, 1), ("b.py", "b@v2", 2), ("c.py", "c@v2", 2)]
    for path, name, version in backups:
        backup = {"backupFileName": name, "version": version}
        claude.plain(type="file-history-delta", trackingPath=path, backup=backup)
    events, transcript = read(READER, claude.write(tmp_path))
    assert [e.text for e in events if isinstance(e, RepoStatus)] == [status]
    reads = [e.read for e in events if isinstance(e, Result)]
    assert reads == [FileText("/home/dev/shop/a.py", "x\n"), None, None, None]
    kept = [(e.path, e.name) for e in events if isinstance(e, FileKept)]
    assert kept == [("b.py", "b@v1"), ("new.py", None)]
    assert transcript.facts().unread.unknown_fields == {}
