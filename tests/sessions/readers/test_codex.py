"""Rollouts of Codex in all their forms, whole and broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.sessions.transcripts import OTHER, SESSION, Codex, as_bytes, read, untouched

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
    Thought,
    TurnEnd,
    Usage,
)
from fairtrial.model.task import Tokens
from fairtrial.sessions.readers.codex.reader import CodexReader

READER = CodexReader()
PATCH = (
    "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** Add File: b.py\n+new\n*** End Patch\n"
)
CHANGES = (
    FileChange("a.py", ChangeKind.UPDATE, "@@\n-x\n+y\n"),
    FileChange("b.py", ChangeKind.ADD, "@@ -0,0 +1,1 @@\n+new\n"),
)


def events_of(codex: Codex, folder: Path) -> list[SessionEvent]:
    return read(READER, codex.write(folder))[0]


def results(events: list[SessionEvent]) -> list[Result]:
    return [event for event in events if isinstance(event, Result)]


@pytest.mark.parametrize("items", [True, False])
def test_a_session_is_read_in_both_enveloped_forms(tmp_path: Path, items: bool) -> None:  # noqa: FBT001
    codex = Codex(items=items)
    instructions = [{"type": "input_text", "text": "# AGENTS.md instructions for /x\n…"}]
    codex.add("response_item", type="message", role="user", content=instructions)
    codex.prompt("Fix add.")
    codex.said("I look.")
    codex.ran("call_1", "pytest -q", "1 failed", code=1)
    codex.said("Done.")
    codex.complete()
    events, transcript = read(READER, codex.write(tmp_path))
    assert [type(event) for event in events] == [Prompt, Said, Call, Result, Said, TurnEnd]
    result = results(events)[0]
    assert (result.status, result.exit_code, result.text) == (ResultStatus.FAIL, 1, "1 failed")
    facts = transcript.facts()
    assert (facts.native_id, facts.cwd, facts.branch) == (SESSION, "/home/dev/shop", "main")
    assert facts.commit == "ab" * 20
    assert facts.state is SessionState.COMPLETED
    assert (facts.first_prompt, facts.final_text) == ("Fix add.", "Done.")
    assert (facts.counts.turns, facts.counts.calls, facts.counts.failures) == (1, 1, 1)
    prompt = events[0]
    assert isinstance(prompt, Prompt)
    assert prompt.source is Source.SDK


def test_the_oldest_form_has_no_envelopes(tmp_path: Path) -> None:
    patch = ["apply_patch", PATCH]
    records: list[dict[str, Any]] = [
        {"id": SESSION, "timestamp": "2026-11-29T12:00:00.000Z", "git": {"branch": "main"}},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Fix it"}]},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]},
        {
            "type": "function_call",
            "name": "shell",
            "arguments": json.dumps({"command": ["bash", "-lc", "pytest -q"]}),
            "call_id": "c1",
        },
        {
            "type": "function_call_output",
            "call_id": "c1",
            "output": json.dumps({"output": "no", "metadata": {"exit_code": 1}}),
        },
        {
            "type": "function_call",
            "name": "shell",
            "arguments": json.dumps({"command": patch}),
            "call_id": "c2",
        },
        {
            "type": "function_call_output",
            "call_id": "c2",
            "output": json.dumps({"output": "ok", "metadata": {"exit_code": 0}}),
        },
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Done."}],
        },
    ]
    path = tmp_path / f"rollout-2025-08-01T00-00-00-{SESSION}.jsonl"
    path.write_bytes(as_bytes(records))
    events, transcript = read(READER, path)
    kinds = [Prompt, Thought, Call, Result, Call, Result, Said]
    assert [type(event) for event in events] == kinds
    calls = [event for event in events if isinstance(event, Call)]
    assert [call.operation for call in calls] == [Operation.SHELL, Operation.EDIT]
    assert calls[0].command == "pytest -q"
    assert [result.exit_code for result in results(events)] == [1, 0]
    assert results(events)[1].changes == CHANGES
    assert transcript.facts().native_id == SESSION


def test_what_a_script_did_is_told_by_items_alone(tmp_path: Path) -> None:
    codex = Codex()
    codex.prompt("Go")
    codex.add(
        "response_item",
        type="custom_tool_call",
        name="exec",
        call_id="call_1",
        input='await tools.exec_command({"cmd": "pytest"})',
    )
    codex.executed("exec-1", "pytest", "1 failed", code=1)
    diff = "@@ -1 +1 @@\n-x\n+y\n"
    changes = {"/r/a.py": {"type": "update", "unified_diff": diff, "move_path": None}}
    codex.item("FileChange", id="exec-2", status="completed", changes=changes, stdout="ok")
    shown = [{"type": "input_text", "text": "Script completed\nWall time 0.1 seconds\nOutput:\n"}]
    codex.output("call_1", shown, "custom_tool_call_output")
    events = events_of(codex, tmp_path)
    told = [(r.call_id, r.status, r.exit_code) for r in results(events)]
    assert told == [
        ("exec-1", ResultStatus.FAIL, 1),
        ("exec-2", ResultStatus.OK, None),
        ("call_1", ResultStatus.OK, None),
    ]
    commands = [event.command for event in events if isinstance(event, Call)]
    assert commands == [None, "pytest", None]
    assert results(events)[1].changes == (FileChange("/r/a.py", ChangeKind.UPDATE, diff),)


@pytest.mark.parametrize(
    ("output", "status", "code"),
    [
        ("Exit code: 1\nWall time: 0 seconds\nOutput:\nno", ResultStatus.FAIL, 1),
        ("Process exited with code 127\nOutput:\nno", ResultStatus.NO_RUN, 127),
        ("Chunk ID: 1\nProcess running with session ID 5\nOutput:\n", ResultStatus.RUNNING, None),
        ("Wall time: 4.7 seconds\naborted by user", ResultStatus.INTERRUPTED, None),
        (
            "patch rejected: read-only; rejected by user approval settings",
            ResultStatus.DENIED,
            None,
        ),
        ("unsupported call: spawn_agent", ResultStatus.NO_RUN, None),
        (
            [{"type": "input_text", "text": "Script failed\nOutput:\n"}],
            ResultStatus.FAIL,
            None,
        ),
        ("Process exited with code 0\nOutput:\nProcess exited with code 9", ResultStatus.OK, 0),
    ],
)
def test_how_a_call_ended(
    tmp_path: Path, output: Any, status: ResultStatus, code: int | None
) -> None:
    codex = Codex()
    codex.call("call_1", "exec_command", {"cmd": "x"})
    codex.output("call_1", output)
    (result,) = results(events_of(codex, tmp_path))
    assert (result.status, result.exit_code) == (status, code)


def test_a_command_in_the_background_is_told_of_when_it_ends(tmp_path: Path) -> None:
    codex = Codex()
    codex.prompt("Go")
    codex.call("call_1", "exec_command", {"cmd": "sleep 30"})
    codex.output("call_1", "Chunk ID: 1\nProcess running with session ID 5\nOutput:\nstart")
    codex.said("It goes on.")
    codex.complete()
    codex.executed("call_1", "sleep 30", "start", code=-1)
    events, transcript = read(READER, codex.write(tmp_path))
    told = [(r.status, r.exit_code) for r in results(events)]
    assert told == [(ResultStatus.RUNNING, None), (ResultStatus.INTERRUPTED, -1)]
    assert transcript.facts().state is SessionState.COMPLETED


def test_a_patch_that_failed_changed_nothing(tmp_path: Path) -> None:
    codex = Codex()
    codex.add(
        "response_item", type="custom_tool_call", name="apply_patch", call_id="call_1", input=PATCH
    )
    codex.item("FileChange", id="call_1", status="failed", changes={})
    codex.output("call_1", "Exit code: 1\nOutput:\nno", "custom_tool_call_output")
    (result,) = results(events_of(codex, tmp_path))
    assert (result.status, result.changes) == (ResultStatus.FAIL, ())


def test_sums_of_tokens_become_those_of_each_call(tmp_path: Path) -> None:
    codex = Codex(items=False)
    for count in (1, 2, 2, 3):
        sums = {
            "input_tokens": 1_000 * count,
            "cached_input_tokens": 400 * count,
            "output_tokens": 10 * count,
            "reasoning_output_tokens": count,
        }
        codex.add("event_msg", type="token_count", info={"total_token_usage": sums})
    usages = [event for event in events_of(codex, tmp_path) if isinstance(event, Usage)]
    assert [usage.tokens for usage in usages] == [Tokens(600, 10, 400, 0, 1)] * 3
    assert len({usage.message_id for usage in usages}) == 3
    assert {usage.model for usage in usages} == {"gpt-5.5"}


def test_tokens_that_are_told_for_each_call_are_not_counted_again(tmp_path: Path) -> None:
    codex = Codex()
    usage = {"input_tokens": 100, "cached_input_tokens": 40, "output_tokens": 5}
    codex.add("token_usage_record", response_id="resp_1", usage=usage)
    codex.add("event_msg", type="token_count", info={"total_token_usage": usage})
    (found,) = (event for event in events_of(codex, tmp_path) if isinstance(event, Usage))
    assert (found.message_id, found.tokens.input) == ("resp_1", 60)


def test_a_fork_names_its_parent(tmp_path: Path) -> None:
    facts = read(READER, Codex(forked_from_id=OTHER).write(tmp_path))[1].facts()
    assert (facts.parent, facts.relation) == (OTHER, Relation.FORK)


def test_a_subagent_drops_what_was_copied_from_its_parent(tmp_path: Path) -> None:
    source = {"subagent": {"thread_spawn": {"parent_thread_id": OTHER}}}
    codex = Codex(source=source, subagent_history_start_ordinal=5)
    codex.add("session_meta", id=OTHER, cwd="/elsewhere")
    codex.prompt("Copied")
    codex.prompt("Own")
    events, transcript = read(READER, codex.write(tmp_path))
    assert [event.text for event in events if isinstance(event, Prompt)] == ["Own"]
    facts = transcript.facts()
    assert (facts.native_id, facts.cwd) == (SESSION, "/home/dev/shop")
    assert (facts.parent, facts.relation) == (OTHER, Relation.SUBAGENT)
    assert facts.counts.turns == 0


def test_an_older_subagent_begins_with_a_turn_of_its_own_time(tmp_path: Path) -> None:
    own, parent = "01a22751-459a-7703-87d2-faf1e950b79d", "01a22750-0000-7703-87d2-faf1e950b79d"
    codex = Codex(own, items=False, parent_thread_id=parent)
    codex.add("session_meta", id=parent, cwd="/elsewhere")
    codex.add("turn_context", model="old", turn_id="01a22750-1111-7703-87d2-faf1e950b79d")
    codex.prompt("Copied")
    codex.add("turn_context", model="new", turn_id="01a22751-4600-7703-87d2-faf1e950b79d")
    codex.prompt("Own")
    events = events_of(codex, tmp_path)
    assert [event.text for event in events if isinstance(event, Prompt)] == ["Own"]


def test_a_failed_turn_is_trouble_with_the_api(tmp_path: Path) -> None:
    codex = Codex()
    codex.prompt("Go")
    codex.complete(error={"message": "too long", "codex_error_info": "other"})
    events, transcript = read(READER, codex.write(tmp_path))
    trouble = next(event for event in events if isinstance(event, ApiTrouble))
    assert (trouble.final, trouble.text) == (True, "too long")
    assert transcript.facts().state is SessionState.API_ERROR


def test_an_aborted_turn_is_interrupted(tmp_path: Path) -> None:
    codex = Codex()
    codex.prompt("Go")
    codex.add("event_msg", type="turn_aborted", reason="interrupted")
    assert read(READER, codex.write(tmp_path))[1].facts().state is SessionState.INTERRUPTED


def test_a_compaction_has_its_summary(tmp_path: Path) -> None:
    codex = Codex()
    codex.add("compacted", message="So far: …", replacement_history=[])
    event = events_of(codex, tmp_path)[0]
    assert isinstance(event, Compaction)
    assert event.summary == "So far: …"


def test_reading_goes_on_where_it_was_left(tmp_path: Path) -> None:
    codex = Codex()
    codex.prompt("Go")
    codex.ran("call_1", "false", "no", code=1)
    codex.call("call_2", "exec_command", {"cmd": "sleep 9"})
    codex.output("call_2", "Process running with session ID 5\nOutput:\n")
    codex.said("Done")
    codex.complete()
    path = codex.write(tmp_path)
    whole, transcript = read(READER, path)
    for cut in range(len(codex.records)):
        first = READER.start(path, untouched)
        events: list[SessionEvent] = []
        for record in codex.records[:cut]:
            events += first.feed(json.dumps(record).encode())
        second = READER.resume(path, untouched, first.state())
        for record in codex.records[cut:]:
            events += second.feed(json.dumps(record).encode())
        assert events == whole
        assert second.facts() == transcript.facts()


def test_what_is_not_known_is_counted(tmp_path: Path) -> None:
    codex = Codex()
    codex.add("hologram", x=1)
    codex.add("event_msg", type="sparkle")
    codex.add("response_item", type="dream")
    codex.item("Song", id="s")
    path = codex.write(tmp_path)
    with path.open("ab") as file:
        file.write(b'{"timestamp":"2026\n')
    unread = read(READER, path)[1].facts().unread
    assert unread.unknown_records == {
        "hologram": 1,
        "event_msg.sparkle": 1,
        "response_item.dream": 1,
        "item_completed.Song": 1,
    }
    assert unread.bad_lines == 1


def test_a_record_may_hold_anything(tmp_path: Path) -> None:
    codex = Codex()
    codex.add("response_item", type="function_call", name=5, arguments=[1], call_id=None)
    codex.add("response_item", type="function_call_output", call_id="x", output={"a": [1]})
    codex.add("event_msg", type="item_completed", item={"type": "FileChange", "changes": [1]})
    codex.add("event_msg", type="token_count", info={"total_token_usage": "none"})
    codex.add("event_msg", type="task_complete", error={"codex_error_info": {"x": 1}})
    codex.add("session_meta", id=7, git="none", source=[1])
    read(READER, codex.write(tmp_path))


def test_a_patch_without_files_is_no_trouble(tmp_path: Path) -> None:
    codex = Codex()
    codex.add(
        "response_item", type="custom_tool_call", name="apply_patch", call_id="call_1", input=""
    )
    events, transcript = read(READER, codex.write(tmp_path))
    assert [event.paths for event in events if isinstance(event, Call)] == [()]
    assert transcript.facts().counts.calls == 1
