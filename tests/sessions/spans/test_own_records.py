"""What Claude Code and Codex tell of themselves."""

from __future__ import annotations

from typing import Any

from fairtrial.model.session import (
    Call,
    Prompt,
    Result,
    ResultStatus,
    Said,
    SessionEvent,
    SessionState,
    Usage,
)
from fairtrial.model.span import Span
from fairtrial.ports.spans import SpanSession
from fairtrial.sessions.spans.incoming import parts_of
from fairtrial.sessions.spans.reader import SpanReader

CLAUDE = "com.anthropic.claude_code.events"


def claude(place: int, name: str, **attributes: Any) -> Span:
    told = {"session.id": "s1", "event.name": name, "event.sequence": place, **attributes}
    return Span("", log=True, at=100.0, attributes=told, body=f"claude_code.{name}", scope=CLAUDE)


def codex(at: float, name: str, **attributes: Any) -> Span:
    told = {"conversation.id": "s2", "event.name": f"codex.{name}", "app.version": "9"}
    return Span(
        "event otel/src/events/session_telemetry.rs:737",
        log=True,
        at=at,
        attributes={**told, "model": "gpt-5.5", **attributes},
    )


def read(agent: str, spans: list[Span]) -> tuple[list[SessionEvent], Any]:
    parts = parts_of(spans, lambda data: data)
    assert {part.agent for part in parts} == {agent}
    reader = SpanReader(None, SpanSession(agent, "s", 1, 1))  # type: ignore[arg-type]
    transcript = reader.start(None, bytes)  # type: ignore[arg-type]
    events = list(transcript.feed(b"[" + b",".join(part.data for part in parts) + b"]"))
    return events, transcript.facts()


def test_claude_code() -> None:
    spans = [
        claude(9, "assistant_response", response="All pass."),
        claude(8, "api_request", model="m", input_tokens=1, output_tokens=2, cost_usd=0.5),
        claude(
            7,
            "tool_result",
            tool_name="Bash",
            tool_use_id="t1",
            success="false",
            error="Shell command failed",
            tool_input='{"command": "pytest"}',
            duration_ms="150",
        ),
        claude(6, "tool_decision", decision="accept", tool_name="Bash", tool_use_id="t1"),
        claude(5, "tool_decision", decision="reject", tool_name="Bash", tool_use_id="t0"),
        claude(4, "user_prompt", prompt="Run the tests."),
        claude(3, "plugin_loaded"),
        claude(2, "news_of_the_future"),
    ]
    events, facts = read("claude-code", spans)
    kinds = [type(event) for event in events]
    assert kinds == [Prompt, Call, Result, Call, Result, Usage, Said]
    denied, failed = [event for event in events if isinstance(event, Result)]
    assert (denied.status, denied.call_id) == (ResultStatus.DENIED, "t0")
    assert (failed.status, failed.duration_s) == (ResultStatus.FAIL, 0.15)
    assert facts.first_prompt == "Run the tests."
    assert facts.state is SessionState.COMPLETED
    assert facts.unread.unknown_records == {"claude_code.news_of_the_future": 1}
    (usage,) = [event for event in events if isinstance(event, Usage)]
    assert usage.cost_usd == 0.5


def test_a_prompt_that_claude_code_hides_is_no_prompt() -> None:
    events, facts = read("claude-code", [claude(1, "user_prompt", prompt="<REDACTED>")])
    assert events == []
    assert facts.first_prompt is None


def test_the_records_of_claude_code_count_more_than_its_spans() -> None:
    own = Span(
        "claude_code.interaction",
        "t" * 32,
        "i",
        at=1.0,
        ended_at=2.0,
        attributes={
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.conversation.id": "s1",
            "user_prompt": "Go",
        },
        scope="com.anthropic.claude_code.tracing",
    )
    events, _ = read("claude-code", [own])
    assert [event.kind for event in events] == ["prompt", "turn_end"]
    events, _ = read("claude-code", [own, claude(1, "user_prompt", prompt="Go")])
    assert [event.kind for event in events] == ["prompt"]


def test_codex() -> None:
    counts = {"input_token_count": "100", "cached_token_count": "40", "output_token_count": "5"}
    spans = [
        codex(1, "conversation_starts"),
        codex(2, "user_prompt", prompt="Run the tests."),
        codex(3, "tool_decision", tool_name="exec_command", call_id="c1", decision="approved"),
        codex(
            4,
            "tool_result",
            tool_name="exec_command",
            call_id="c1",
            success="true",
            arguments='{"cmd": "pytest"}',
            output="Wall time: 1 s\nProcess exited with code 3\nOutput:\n1 failed",
        ),
        codex(5, "sse_event", **{"event.kind": "response.completed"}),
        codex(5, "sse_event", **{"event.kind": "response.completed", **counts}),
    ]
    events, facts = read("codex", spans)
    assert [event.kind for event in events] == ["prompt", "call", "result", "usage", "turn_end"]
    result, usage = events[2], events[3]
    assert isinstance(result, Result)
    assert (result.status, result.exit_code) == (ResultStatus.FAIL, 3)
    assert isinstance(usage, Usage)
    assert (usage.tokens.input, usage.tokens.cache_read) == (60, 40)
    assert (facts.agent_version, facts.state) == ("9", SessionState.COMPLETED)
