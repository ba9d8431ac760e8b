"""Whatever stands in a transcript, reading goes on, and what is read can be stored."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.sessions.opencode_database import OpenCode
from tests.sessions.readers import test_gemini as gemini
from tests.sessions.trajectories import Trajectory, call, observed
from tests.sessions.transcripts import Claude, Codex, as_bytes, untouched

from fairtrial.model.session import Call, Result, SessionEvent, Usage
from fairtrial.model.task import Tokens
from fairtrial.ports.sessions import SessionReader
from fairtrial.sessions.registry import readers
from fairtrial.store.session_events import Unpacker, pack_events
from fairtrial.store.session_folding import pack_facts, unpack_facts

DEEP: Any = "x"
for _ in range(300):
    DEEP = [DEEP]
ODD = st.sampled_from(
    [
        None,
        True,
        -1,
        2**63,
        2**70,
        10**400,
        1e308,
        float("nan"),
        float("inf"),
        "",
        "\u2028\x00",
        "\ud800",
        [],
        ["x"],
        [None, 1, {}],
        {},
        {"type": "text", "text": 5},
        {"role": ["user"]},
        "9999-12-31T23:59:59-14:00",
        "0001-01-01T00:00:00+14:00",
        DEEP,
    ]
)


def _claude() -> list[Any]:
    claude = Claude()
    claude.prompt("Fix add.")
    claude.ran("c1", "pytest -q", "1 failed", code=1)
    claude.call("c2", "Edit", {"file_path": "/a", "old_string": "x", "new_string": "y"})
    told = {"filePath": "/a", "originalFile": "x", "structuredPatch": [{"lines": ["-x"]}]}
    claude.result("c2", "ok", told)
    claude.add("system", subtype="api_error", error={"status": 529}, retryAttempt=1)
    claude.said("Done.")
    return claude.records


def _codex(*, items: bool) -> list[Any]:
    codex = Codex(items=items)
    codex.prompt("Fix add.")
    codex.ran("c1", "pytest -q", "1 failed", 1)
    codex.item("FileChange", id="f", changes={"/a": {"type": "add", "content": "x"}})
    usage = {"input_tokens": 10, "cached_input_tokens": 5, "output_tokens": 3}
    codex.add("event_msg", type="token_count", info={"total_token_usage": usage})
    codex.said("Done.")
    codex.complete()
    return codex.records


def _gemini() -> list[Any]:
    ran = gemini.call("c1", "run_shell_command", {"command": "x"}, "no\nExit Code: 1")
    shown = {"fileDiff": "@@ -1 +1 @@\n-x\n+y\n", "filePath": "/a", "originalContent": "x"}
    edit = gemini.call("c2", "replace", {"file_path": "/a"}, "ok", resultDisplay=shown)
    thoughts = [{"description": "Hm"}]
    answer = gemini.answer("m1", "I look.", ran, edit, thoughts=thoughts)
    return [gemini.HEADER, gemini.user("u1", {"text": "Fix"}), answer, {"$set": {"messages": []}}]


def _pi() -> list[Any]:
    use = {"type": "toolCall", "id": "c", "name": "edit", "arguments": {"path": "/a"}}
    usage = {"input": 1, "output": 2, "cost": {"total": 0.1}}
    told = [
        {"role": "user", "content": [{"type": "text", "text": "Fix"}]},
        {"role": "assistant", "content": [use], "usage": usage, "stopReason": "error"},
        {"role": "toolResult", "toolCallId": "c", "content": "ok", "isError": False},
    ]
    head = {"type": "session", "version": 3, "id": "x", "cwd": "/r", "parentSession": "/a/b_c.x"}
    return [head, *({"type": "message", "id": "m", "message": message} for message in told)]


def _opencode() -> dict[str, Any]:
    opencode = OpenCode(parentID="ses_zero").prompt("Fix add.").ran("pytest -q", "1 failed", 1)
    edit = opencode.tool("edit", {"filePath": "/a", "oldString": "x"}, "ok", {"diff": "@@"})
    patch = opencode.tool("apply_patch", {"patchText": "x"}, "ok", {"files": [{"filePath": "/b"}]})
    error = {"name": "APIError", "data": {"message": "no", "statusCode": 500}}
    opencode.answer(edit, patch, {"type": "retry", "error": error}, error=error)
    told = [{"info": info, "parts": parts} for info, parts in opencode.messages]
    return {"info": opencode.info, "messages": told}


def _atif() -> dict[str, Any]:
    edit = call("e", "edit", path="/a", old_string="x", new_string="y")
    trajectory = Trajectory().prompt("Fix").ran("pytest", "no\nProcess exited with code 1")
    trajectory.said("", edit, observation=observed(("e", "ok")), extra={"exit_code": 1})
    trajectory.root["final_metrics"] = {"total_prompt_tokens": 5}
    inner = Trajectory("other").said("Seen.")
    trajectory.root["subagent_trajectories"] = [inner.document()]
    return trajectory.document()


FORMS: dict[str, tuple[str, str, Callable[[], Any]]] = {
    "claude-code": ("claude-code", "x.jsonl", _claude),
    "codex": ("codex", "rollout-x.jsonl", lambda: _codex(items=True)),
    "codex, older": ("codex", "rollout-x.jsonl", lambda: _codex(items=False)),
    "gemini": ("gemini", "session-x.jsonl", _gemini),
    "pi": ("pi", "x_y.jsonl", _pi),
    "opencode": ("opencode", "x.json", _opencode),
    "atif": ("atif", "trajectory.json", _atif),
}


def reader_of(form: str) -> SessionReader:
    return next(reader for reader in readers() if reader.agent == FORMS[form][0])


def read_in_two(reader: SessionReader, path: Path) -> list[SessionEvent]:
    """Read a file; after each line as if another sync went on with it."""
    transcript = reader.start(path, untouched)
    events: list[SessionEvent] = []
    for line in reader.source(str(path)).lines(0):
        if line.data is None:
            transcript.clipped()
        else:
            events += transcript.feed(line.data)
        transcript = reader.resume(path, untouched, transcript.state())
    unpack_facts(pack_facts(transcript.facts()))
    assert len(list(Unpacker().events(pack_events(events).data, ""))) == len(events)
    return events


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield where something stands in a value."""
    if above:
        yield above
    inner: Any = ()
    if isinstance(value, dict | list):
        inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in inner:
        yield from places(part, (*above, key))


def change(value: Any, place: tuple[Any, ...], new: Any) -> None:
    """Put something else at a place; take away what was there, if it is `...`."""
    holder = value
    for key in place[:-1]:
        holder = holder[key]
    if new is ...:
        del holder[place[-1]]
    else:
        holder[place[-1]] = new


def written(value: Any) -> bytes:
    if isinstance(value, dict):
        return json.dumps(value).encode()
    return b"".join(json.dumps(record).encode() + b"\n" for record in value)


@pytest.mark.parametrize("form", FORMS)
@settings(
    max_examples=60,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_any_field_may_hold_anything(form: str, tmp_path: Path, data: st.DataObject) -> None:
    _, name, make = FORMS[form]
    value = copy.deepcopy(make())
    for _ in range(data.draw(st.integers(1, 3))):
        found = list(places(value))
        if not found:
            break
        place = data.draw(st.sampled_from(found))
        change(value, place, copy.deepcopy(data.draw(st.one_of(st.just(...), ODD))))
    path = tmp_path / name
    path.write_bytes(written(value))
    for event in read_in_two(reader_of(form), path):
        if isinstance(event, Usage):
            assert all(n is None or n >= 0 for n in msgspec.structs.astuple(_counts(event.tokens)))


class _Counts(msgspec.Struct):
    input: int | None
    output: int | None
    cache_read: int | None
    cache_write: int | None


def _counts(tokens: Tokens) -> _Counts:
    return _Counts(tokens.input, tokens.output, tokens.cache_read, tokens.cache_write)


@pytest.mark.parametrize("form", FORMS)
def test_it_may_break_off_at_any_byte(form: str, tmp_path: Path) -> None:
    _, name, make = FORMS[form]
    reader, path, data = reader_of(form), tmp_path / name, written(make())
    most = len(read_in_two(reader, _put(path, data)))
    for end in range(0, len(data), max(1, len(data) // 150)):
        assert len(read_in_two(reader, _put(path, data[:end]))) <= most


@pytest.mark.parametrize("form", FORMS)
@settings(
    max_examples=40,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_any_bytes_may_be_in_it(form: str, tmp_path: Path, data: st.DataObject) -> None:
    _, name, make = FORMS[form]
    raw = written(make())
    at = data.draw(st.integers(0, len(raw)))
    garbage = data.draw(st.one_of(st.binary(max_size=40), st.sampled_from([b"}{", b"\n", b"\0"])))
    cut = data.draw(st.integers(0, 60))
    read_in_two(reader_of(form), _put(tmp_path / name, raw[:at] + garbage + raw[at + cut :]))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "latin-1", "utf-8-sig"])
@pytest.mark.parametrize("form", FORMS)
def test_it_may_be_in_another_encoding(form: str, encoding: str, tmp_path: Path) -> None:
    _, name, make = FORMS[form]
    text = written(make()).decode().replace("Fix", "Müller")
    path = _put(tmp_path / name, text.encode(encoding, "replace"))
    events = read_in_two(reader_of(form), path)
    # Without a mark of its encoding nothing can be made of UTF-16.
    assert bool(events) is (encoding != "utf-16-le")


def _put(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_yes_is_no_number(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    claude = Claude()
    claude.said("Done.")
    usage = claude.records[-1]["message"]["usage"]
    usage["output_tokens_details"] = {"thinking_tokens": True}
    claude.add("system", subtype="api_error", error={"status": True})
    path.write_bytes(as_bytes(claude.records))
    read_in_two(reader_of("claude-code"), path)


def test_numbers_that_cannot_be_are_left_out(tmp_path: Path) -> None:
    use = {"type": "toolCall", "id": "c", "name": "x", "arguments": {"n": 2**70, "deep": DEEP}}
    usage = {"input": -5, "output": 2**70}
    message = {"role": "assistant", "content": [use], "usage": usage}
    path = tmp_path / "x_y.jsonl"
    path.write_bytes(as_bytes([{"type": "message", "id": "m", "message": message}]))
    events = read_in_two(reader_of("pi"), path)
    (tokens,) = (event.tokens for event in events if isinstance(event, Usage))
    assert tokens == Tokens()
    (given_,) = (event.input for event in events if isinstance(event, Call))
    assert isinstance(given_, dict)
    assert given_["n"] == "[… a number out of bounds …]"
    part = OpenCode().tool("bash", {"command": "x"}, "out", {"exit": 2**80})
    part["state"]["time"] = {"start": 5, "end": 1}
    path = OpenCode().answer(part).export(tmp_path / "x.json")
    (result,) = (e for e in read_in_two(reader_of("opencode"), path) if isinstance(e, Result))
    assert (result.exit_code, result.duration_s) == (None, 0.0)
