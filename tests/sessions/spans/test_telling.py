"""Spans in all forms that programs write become the same events."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairtrial.model.session import (
    MAIN,
    ApiTrouble,
    Call,
    Prompt,
    Result,
    ResultStatus,
    Said,
    SessionEvent,
    Source,
    Thought,
    TurnEnd,
    Usage,
)
from fairtrial.model.span import Span, SpanEvent
from fairtrial.sessions.spans.incoming import parts_of, span_of
from fairtrial.sessions.spans.telling import events_of

CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}


def span(name: str, at: float, until: float, **more: Any) -> Span:
    attributes = {**more.pop("attributes", {}), **more.pop("also", {})}
    return Span(name, "t" * 32, name, at=at, ended_at=until, attributes=attributes, **more)


def chat(name: str, at: float, told: Any, answered: Any, **more: Any) -> Span:
    messages = {
        "gen_ai.input.messages": told if isinstance(told, str) else json.dumps(told),
        "gen_ai.output.messages": answered if isinstance(answered, str) else json.dumps(answered),
    }
    return span(name, at, at + 1, attributes=CHAT, also=messages, **more)


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def brief(events: Sequence[SessionEvent]) -> list[tuple[str, str]]:
    """Return the kinds of events and what stands in them."""
    found = []
    for event in events:
        text = getattr(event, "text", "") or getattr(event, "command", None) or ""
        found.append((event.kind, text or getattr(event, "tool", "")))
    return found


LOOK: Mapping[str, Any] = {
    "id": "c1",
    "type": "function",
    "function": {"name": "bash", "arguments": '{"command": "ls"}'},
}
EVENTS = (
    ("gen_ai.system.message", {"content": "Be kind."}),
    ("gen_ai.user.message", {"content": "Look."}),
)
CHOICE = {"index": 0, "finish_reason": "tool_calls", "message": {"tool_calls": [dict(LOOK)]}}
EXPECTED = [("prompt", "Look."), ("call", "ls")]


def forms() -> Mapping[str, Sequence[Span]]:
    """Return the same call of a model in each form."""
    call = {"type": "tool_call", "id": "c1", "name": "bash", "arguments": {"command": "ls"}}
    told = [said("system", "Be kind."), said("user", "Look.")]
    answered = [{"role": "assistant", "parts": [call], "finish_reason": "tool_call"}]
    plain = span("a", 1, 2, attributes=CHAT)
    in_span = [SpanEvent(name, 1.0, attributes) for name, attributes in EVENTS]
    as_text = {"index": 0, "message": json.dumps(CHOICE["message"])}
    in_span.append(SpanEvent("gen_ai.choice", 2.0, as_text))
    records = [
        Span(name, "t" * 32, "a", log=True, at=1.0, body=dict(body)) for name, body in EVENTS
    ]
    records.append(Span("gen_ai.choice", "t" * 32, "a", log=True, at=2.0, body=CHOICE))
    details = {
        "gen_ai.input.messages": json.dumps(told),
        "gen_ai.output.messages": json.dumps(answered),
    }
    indexed = {
        "gen_ai.prompt.0.role": "system",
        "gen_ai.prompt.0.content": "Be kind.",
        "gen_ai.prompt.1.role": "user",
        "gen_ai.prompt.1.content": "Look.",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.tool_calls.0.id": "c1",
        "gen_ai.completion.0.tool_calls.0.name": "bash",
        "gen_ai.completion.0.tool_calls.0.arguments": '{"command": "ls"}',
    }
    whole = {
        "gen_ai.prompt": json.dumps([{"role": "user", "content": "Look."}]),
        "gen_ai.completion": json.dumps([{"role": "assistant", "tool_calls": [dict(LOOK)]}]),
    }
    name = "gen_ai.client.inference.operation.details"
    structured = {"gen_ai.input.messages": told, "gen_ai.output.messages": answered}
    return {
        "attributes": [chat("a", 1, told, answered)],
        "structured attributes": [span("a", 1, 2, attributes=CHAT, also=structured)],
        "events": [span("a", 1, 2, attributes=CHAT, events=tuple(in_span))],
        "records": [*records, plain],
        "a record of details": [
            Span(name, "t" * 32, "a", log=True, at=2.0, attributes=details),
            plain,
        ],
        "an event of details": [
            span("a", 1, 2, attributes=CHAT, events=(SpanEvent(name, 2.0, details),))
        ],
        "an attribute a part": [span("a", 1, 2, attributes=CHAT, also=indexed)],
        "whole attributes": [span("a", 1, 2, attributes=CHAT, also=whole)],
    }


@pytest.mark.parametrize("form", forms())
def test_all_forms_tell_the_same(form: str) -> None:
    assert brief(events_of(forms()[form])) == EXPECTED


def test_what_is_repeated_is_told_once_and_what_is_said_again_twice() -> None:
    user, answer = said("user", "Go on"), said("assistant", "Yes")
    spans = [
        chat("a", 1, [user], [answer]),
        chat("b", 3, [user, answer, user], [answer]),
        chat("c", 5, [user, answer, user, answer, user], [said("assistant", "No")]),
    ]
    expected = [("prompt", "Go on"), ("said", "Yes")] * 2 + [("prompt", "Go on"), ("said", "No")]
    for order in itertools.permutations(spans):
        assert brief(events_of(order)) == expected


def test_a_span_of_a_tool_completes_what_the_messages_tell() -> None:
    call = {"type": "tool_call", "id": "c1", "name": "bash", "arguments": '{"cmd": "make"}'}
    spans = [
        chat("a", 1, [said("user", "Build")], [{"role": "assistant", "parts": [call]}]),
        span(
            "tool",
            3,
            5,
            attributes={
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "bash",
                "gen_ai.tool.call.result": '{"exit_code": 2, "stdout": "no rule"}',
            },
        ),
    ]
    events = events_of(spans)
    calls = [event for event in events if isinstance(event, Call)]
    (result,) = [event for event in events if isinstance(event, Result)]
    assert [(found.id, found.command) for found in calls] == [("c1", "make")]
    assert (result.call_id, result.status, result.exit_code) == ("c1", ResultStatus.FAIL, 2)
    assert (result.text, result.duration_s) == ("no rule", 2.0)


def test_a_tool_that_no_message_tells_of_is_a_call() -> None:
    tool = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "write_file",
        "gen_ai.tool.call.arguments": '{"path": "a.py", "content": "A = 1\\n"}',
    }
    call, result = events_of([span("w", 1, 2, attributes=tool)])
    assert isinstance(call, Call)
    assert isinstance(result, Result)
    assert call.paths == ("a.py",)
    assert result.changes[0].diff == "@@ -0,0 +1,1 @@\n+A = 1\n"
    failed = span("w", 1, 2, attributes=tool, error="disk full")
    _, result = events_of([failed])
    assert isinstance(result, Result)
    assert (result.status, result.text, result.changes) == (ResultStatus.FAIL, "disk full", ())


def test_an_agent_within_an_agent_is_a_thread() -> None:
    outer = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "lead"}
    inner = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper"}
    spans = [
        span("lead", 1, 9, attributes=outer),
        chat("a", 2, [said("user", "Do it")], [said("assistant", "I ask.")], parent="lead"),
        span("step", 3, 7, attributes={}, parent="lead"),
        span("helper", 4, 6, attributes=inner, parent="step"),
        chat("b", 5, [said("user", "Help")], [said("assistant", "Done")], parent="helper"),
    ]
    events = events_of(spans)
    prompts = [event for event in events if isinstance(event, Prompt)]
    assert [(found.thread, found.source) for found in prompts] == [
        (MAIN, Source.HUMAN),
        ("helper-helper", Source.AGENT),
    ]
    assert isinstance(events[-1], TurnEnd)
    assert events[-1].thread == MAIN


def test_thoughts_usage_and_trouble() -> None:
    answer = {
        "role": "assistant",
        "parts": [{"type": "reasoning", "content": "Hm."}, {"type": "text", "content": "Hi"}],
    }
    used = {
        "gen_ai.usage.input_tokens": "30",
        "gen_ai.usage.output_tokens": 5,
        "gen_ai.usage.cache_read.input_tokens": 10,
        "gen_ai.response.model": "m-1",
    }
    good = chat("a", 1, [], [answer])
    good = Span(**{**_fields(good), "attributes": {**good.attributes, **used}})
    bad = span("b", 3, 4, attributes=CHAT, also={"error.type": "429"}, error="slow down")
    usage, thought, text, trouble = events_of([bad, good])
    assert isinstance(usage, Usage)
    assert usage.model == "m-1"
    assert (usage.tokens.input, usage.tokens.output, usage.tokens.cache_read) == (20, 5, 10)
    assert isinstance(thought, Thought)
    assert isinstance(text, Said)
    assert isinstance(trouble, ApiTrouble)
    assert (trouble.status, trouble.final, trouble.text) == (429, True, "slow down")


def _fields(found: Span) -> dict[str, Any]:
    return {name: getattr(found, name) for name in Span.__dataclass_fields__}


NAMES = st.sampled_from(
    [
        "gen_ai.operation.name",
        "gen_ai.tool.name",
        "gen_ai.tool.call.id",
        "gen_ai.tool.call.arguments",
        "gen_ai.tool.call.result",
        "gen_ai.request.model",
        "gen_ai.input.messages",
        "gen_ai.output.messages",
        "gen_ai.prompt",
        "gen_ai.prompt.0.content",
        "gen_ai.completion.0.tool_calls.0.arguments",
        "gen_ai.usage.input_tokens",
        "gen_ai.conversation.id",
        "error.type",
        "user_prompt",
        "event.name",
        "prompt",
        "tool_name",
    ]
)
PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9)
WORDS = st.sampled_from(
    ["chat", "execute_tool", "invoke_agent", "claude_code.tool_result", "codex.sse_event", "user"]
)
KEYS = st.sampled_from(["role", "parts", "type", "content", "id", "name", "tool_calls", "message"])
VALUES = st.recursive(
    PLAIN | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=8,
)
SPANS = st.builds(
    Span,
    name=WORDS,
    trace=st.sampled_from(["", "a" * 32]),
    id=st.sampled_from(["", "b", "c"]),
    parent=st.sampled_from([None, "b", "c"]),
    log=st.booleans(),
    at=st.none() | st.floats(-1e18, 1e18),
    ended_at=st.none() | st.floats(-1e18, 1e18),
    attributes=st.dictionaries(NAMES, VALUES | VALUES.map(json.dumps), max_size=6),
    body=VALUES,
    error=st.none() | st.text(max_size=4),
    scope=st.sampled_from(["", "com.anthropic.claude_code.events"]),
)


@settings(max_examples=60)
@given(st.lists(SPANS, max_size=5))
def test_no_span_is_too_strange(spans: list[Span]) -> None:
    from fairtrial.ports.spans import SpanSession  # noqa: PLC0415
    from fairtrial.sessions.spans.reader import SpanReader  # noqa: PLC0415

    parts = parts_of(spans, lambda data: data)
    kept = [span_of(part.data) for part in parts]
    assert [found.id for found in kept] == [found.id for found in spans]
    reader = SpanReader(_NoStore(), SpanSession("x", "y", 1, 1))
    transcript = reader.start(None, bytes)  # type: ignore[arg-type]
    data = b"[" + b",".join(part.data for part in parts) + b"]"
    events = list(transcript.feed(data))
    assert transcript.facts().counts.calls == sum(isinstance(found, Call) for found in events)


class _NoStore:
    """A store that is not asked."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(name)
