"""Whatever stands in a transcript, a request comes of it, or the kept events stand in."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sessions.requests.logging_claude import story
from tests.sessions.requests.test_rebuilding import _after, _numbered, _session
from tests.sessions.transcripts import Codex, as_bytes, read, untouched

from fairtrial.model.call import Api
from fairtrial.model.next_turn import Fidelity
from fairtrial.ports.sessions import SessionReader
from fairtrial.sessions.readers.claude_code.reader import ClaudeCodeReader
from fairtrial.sessions.readers.codex.reader import CodexReader
from fairtrial.sessions.requests.rebuilding import Means, next_turns

JUNK: list[Any] = [None, [], {}, "", "x", -1, 10**30, True, 1.5, [[]], [{}], {"a": []}, ["x"]]


def codex_story() -> list[dict[str, Any]]:
    codex = Codex(base_instructions={"text": "You are an agent."})
    codex.prompt("Fix add.")
    codex.ran("t2", "ls", "calc.py")
    codex.add("compacted", message="", replacement_history=[{"type": "message", "role": "user"}])
    codex.ran("t3", "pytest -q", "1 failed", 1)
    codex.said("Done.")
    return codex.records


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the ways to all values within one."""
    found = [path] if path else []
    if isinstance(value, dict):
        for name, inner in value.items():
            found += places(inner, (*path, name))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            found += places(inner, (*path, number))
    return found


def changed(records: list[Any], path: tuple[Any, ...], junk: Any) -> list[Any]:
    found = copy.deepcopy(records)
    holder: Any = found
    for name in path[:-1]:
        holder = holder[name]
    holder[path[-1]] = copy.deepcopy(junk)
    return found


CLAUDE = story().records
CODEX = codex_story()


def rebuilt(
    agent: str, reader: SessionReader, folder: Path, records: list[Any], whole: list[Any]
) -> Fidelity:
    """Rebuild from changed records the moment that the whole ones had."""
    path = folder / f"{agent}.jsonl"
    path.write_bytes(as_bytes(whole))
    events = _numbered(read(reader, path)[0])
    path.write_bytes(b"".join(json.dumps(record).encode() + b"\n" for record in records))
    means = Means(reader, untouched, "m", Api.ANTHROPIC_MESSAGES)
    (turn,) = next_turns(_session(agent, path, "m"), events, [_after(events, "t3")], means)
    assert turn.call.body.get("messages") or turn.call.body.get("input")
    return turn.fidelity


@settings(max_examples=150)
@given(path=st.sampled_from(places(CLAUDE)), junk=st.sampled_from(JUNK))
def test_any_value_of_claude_code_may_be_another(
    tmp_path_factory: Any, path: tuple[Any, ...], junk: Any
) -> None:
    folder = tmp_path_factory.getbasetemp()
    records = changed(CLAUDE, path, junk)
    rebuilt("claude-code", ClaudeCodeReader(), folder, records, CLAUDE)


@settings(max_examples=100)
@given(path=st.sampled_from(places(CODEX)), junk=st.sampled_from(JUNK))
def test_any_value_of_codex_may_be_another(
    tmp_path_factory: Any, path: tuple[Any, ...], junk: Any
) -> None:
    folder = tmp_path_factory.getbasetemp()
    rebuilt("codex", CodexReader(), folder, changed(CODEX, path, junk), CODEX)


def test_a_chain_of_requests_that_leads_back_to_itself_is_no_request(tmp_path: Path) -> None:
    records = copy.deepcopy(CLAUDE)
    for record in records:
        if record["type"] == "api-request":
            record["base"] = "request-2"
    found = rebuilt("claude-code", ClaudeCodeReader(), tmp_path, records, CLAUDE)
    assert found is Fidelity.CONVERSATION


def test_a_request_that_keeps_more_than_there_was_is_not_exact(tmp_path: Path) -> None:
    records = copy.deepcopy(CLAUDE)
    for record in records:
        if record.get("id") == "request-1":
            record["keep"] = 9
    found = rebuilt("claude-code", ClaudeCodeReader(), tmp_path, records, CLAUDE)
    assert found is Fidelity.CONVERSATION
