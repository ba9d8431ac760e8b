"""Trajectories in the Agent Trajectory Interchange Format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.sessions.trajectories import Trajectory, call, observed
from tests.sessions.transcripts import SESSION, untouched

from fairtrial.model.session import (
    Call,
    ChangeKind,
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
    TranscriptFacts,
    Usage,
)
from fairtrial.model.task import Tokens
from fairtrial.sessions.readers.atif.reader import AtifReader

READER = AtifReader()


def read(path: Path) -> tuple[list[SessionEvent], TranscriptFacts]:
    transcript = READER.start(path, untouched)
    events = [
        event
        for line in READER.source(str(path)).lines(0)
        for event in transcript.feed(line.data or b"")
    ]
    return events, transcript.facts()


def test_a_trajectory_is_read_with_all_that_happened(tmp_path: Path) -> None:
    trajectory = Trajectory()
    trajectory.agent["extra"] = {"cwds": ["/app"], "git_branches": ["main"]}
    trajectory.step("system", "You are an agent.").prompt("Fix add.")
    trajectory.ran("pytest -q", "1 failed\n\nProcess exited with code 1", "I look.")
    edit = call("c2", "Edit", file_path="/app/a.py", old_string="x\n", new_string="y\n")
    new = call("c3", "write_file", path="/app/n.py", content="a\n")
    results = observed(("c2", "ok"), ("c3", [{"type": "text", "text": "made"}]))
    trajectory.said("Executed Edit c2", edit, new, reasoning_content="Hm", observation=results)
    trajectory.said("Done.")
    events, facts = read(trajectory.write(tmp_path))
    kinds = [Prompt, Usage, Said, Call, Result]
    kinds += [Usage, Thought, Call, Call, Result, Result, Usage, Said]
    assert [type(event) for event in events] == kinds
    assert isinstance(events[0], Prompt)
    assert events[0].source is Source.SDK
    found = [event for event in events if isinstance(event, Result)]
    assert (found[0].status, found[0].exit_code) == (ResultStatus.FAIL, 1)
    assert found[1].changes == (
        FileChange("/app/a.py", ChangeKind.UPDATE, "@@ -1 +1 @@\n-x\n+y\n"),
    )
    assert found[2].changes == (FileChange("/app/n.py", ChangeKind.ADD, "@@ -0,0 +1,1 @@\n+a\n"),)
    usage = events[1]
    assert isinstance(usage, Usage)
    assert (usage.model, usage.cost_usd) == ("gpt-5.5", 0.5)
    assert usage.tokens == Tokens(100, 50, 1_000)
    assert (facts.agent, facts.agent_version, facts.native_id) == ("terminus-2", "2.0", SESSION)
    assert (facts.cwd, facts.branch, facts.state) == ("/app", "main", SessionState.COMPLETED)
    assert facts.derived
    assert facts.unread.records == 6
    assert (facts.unread.bad_lines, dict(facts.unread.unknown_records)) == (0, {})


@pytest.mark.parametrize(
    ("content", "extra", "status", "code"),
    [
        ("Exit code 2\nno\n\n[error] tool reported failure", {}, "fail", 2),
        ("out\n[exit_code] 3", {}, "fail", 3),
        ("<returncode>0</returncode>\n<output>x</output>", {}, "ok", 0),
        ("[The command completed with exit code 127.]", {}, "norun", 127),
        ("1 failed", {}, "unknown", None),
        ("fine", {"exit_code": 0}, "ok", 0),
        ("bad", {"tool_result_metadata": {"is_error": True}}, "fail", None),
        ("This command requires approval", {}, "denied", None),
    ],
)
def test_how_a_command_ended(
    tmp_path: Path, content: str, extra: Any, status: str, code: int | None
) -> None:
    trajectory = Trajectory().ran("x", content, extra=extra)
    (result,) = (e for e in read(trajectory.write(tmp_path))[0] if isinstance(e, Result))
    assert (result.status.value, result.exit_code) == (status, code)


@pytest.mark.parametrize(
    ("tool", "arguments", "operation", "command"),
    [
        ("bash_command", {"keystrokes": "ls -la\n"}, Operation.SHELL, "ls -la"),
        ("shell", {"command": ["bash", "-lc", "a b"]}, Operation.SHELL, "bash -lc 'a b'"),
        ("str_replace_editor", {"command": "view", "path": "/a"}, Operation.READ, None),
        ("str_replace_editor", {"command": "create", "path": "/a"}, Operation.WRITE, None),
        ("mcp__db__query", {}, Operation.MCP, None),
        ("hologram", [1], Operation.OTHER, None),
    ],
)
def test_tools_of_many_agents(
    tmp_path: Path, tool: str, arguments: Any, operation: Operation, command: str | None
) -> None:
    told = {"tool_call_id": "c", "function_name": tool, "arguments": arguments}
    (found,) = (
        event
        for event in read(Trajectory().said("", told).write(tmp_path))[0]
        if isinstance(event, Call)
    )
    assert (found.operation, found.command) == (operation, command)


def test_a_terminal_answers_all_calls_of_a_step_at_once(tmp_path: Path) -> None:
    both = (call("a", "bash_command", keystrokes="x\n"), call("b", "bash_command", keystrokes="y"))
    trajectory = Trajectory().said("", *both, observation=observed((None, "screen")))
    (result,) = (e for e in read(trajectory.write(tmp_path))[0] if isinstance(e, Result))
    assert (result.call_id, result.text) == ("b", "screen")


def test_what_was_copied_from_an_earlier_part_is_not_told_again(tmp_path: Path) -> None:
    trajectory = Trajectory().prompt("Old", is_copied_context=True)
    trajectory.ran("x", "y", is_copied_context=True).ran("z", "w")
    events, facts = read(trajectory.write(tmp_path, "trajectory.cont-1.json"))
    assert [type(event) for event in events] == [Usage, Call, Result]
    assert facts.native_id == f"{SESSION}-cont-1"
    assert (facts.parent, facts.relation) == (SESSION, Relation.RESUME)


def test_a_subagent_in_the_same_file_is_another_thread(tmp_path: Path) -> None:
    trajectory = Trajectory().prompt("Fix").said("Done.")
    inner = Trajectory("other").prompt("Look").ran("grep x", "y").said("Seen?")
    inner.root["trajectory_id"] = "t1"
    trajectory.root["subagent_trajectories"] = [inner.document(), "what"]
    events, facts = read(trajectory.write(tmp_path))
    assert {event.thread for event in events} == {"main", "t1"}
    assert (facts.native_id, facts.counts.calls, facts.counts.turns) == (SESSION, 1, 1)
    assert facts.state is SessionState.COMPLETED
    names = [event.message_id for event in events if isinstance(event, Usage)]
    assert len(set(names)) == 3


def test_totals_count_where_no_step_tells_its_tokens(tmp_path: Path) -> None:
    trajectory = Trajectory().step("agent", "Done.")
    trajectory.root["final_metrics"] = {
        "total_prompt_tokens": 30,
        "total_completion_tokens": 5,
        "total_cached_tokens": 10,
        "total_cost_usd": 0.1,
    }
    (usage,) = (e for e in read(trajectory.write(tmp_path))[0] if isinstance(e, Usage))
    assert (usage.tokens, usage.cost_usd) == (Tokens(20, 5, 10), 0.1)
    trajectory.said("More.")
    found = [e for e in read(trajectory.write(tmp_path))[0] if isinstance(e, Usage)]
    assert [usage.tokens for usage in found] == [Tokens(100, 50, 1_000)]


def test_one_without_an_id_is_named_after_its_file(tmp_path: Path) -> None:
    path = Trajectory(None).said("x").write(tmp_path)
    first = read(path)[1].native_id
    assert first
    assert read(path)[1].native_id == first
    assert read(Trajectory(None).said("x").write(tmp_path / "b"))[1].native_id != first


def test_what_is_not_understood_is_counted(tmp_path: Path) -> None:
    trajectory = Trajectory().step("oracle", "x").said("y", observation=5, tool_calls=[3])
    trajectory.steps += [7, "text", None]
    unread = read(trajectory.write(tmp_path))[1].unread
    assert dict(unread.unknown_records) == {"step of oracle": 1}
    assert unread.bad_lines == 3


def test_whose_it_is() -> None:
    assert READER.recognises([{"schema_version": "ATIF-v9.9", "steps": []}])
    assert not READER.recognises([{"schema_version": 3}])
    assert not READER.recognises([])
