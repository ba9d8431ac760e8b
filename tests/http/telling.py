"""Spans and records as programs write them, sent by the real exporters."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Status, StatusCode, Tracer

SECRET = "sk-ant-" + "a1" * 10
ASKED = {"role": "user", "parts": [{"type": "text", "content": f"Fix it, with {SECRET}."}]}
CALLED = {
    "role": "assistant",
    "parts": [
        {"type": "reasoning", "content": "Tests first."},
        {"type": "tool_call", "id": "c1", "name": "bash", "arguments": {"command": "pytest -q"}},
    ],
    "finish_reason": "tool_call",
}
BROUGHT = {
    "role": "tool",
    "parts": [
        {
            "type": "tool_call_response",
            "id": "c1",
            "response": {"exit_code": 1, "stdout": "1 failed"},
        }
    ],
}
DONE = {
    "role": "assistant",
    "parts": [{"type": "text", "content": "All tests pass now."}],
    "finish_reason": "stop",
}
CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "claude-sonnet-5-5"}


def usage(name: str, read: int) -> dict[str, Any]:
    return {
        "gen_ai.response.id": name,
        "gen_ai.usage.input_tokens": read,
        "gen_ai.usage.output_tokens": 10,
        "gen_ai.usage.cache_read.input_tokens": 20,
    }


def exchange(told: Sequence[Any], answered: Sequence[Any]) -> dict[str, Any]:
    return {
        "gen_ai.input.messages": json.dumps(told),
        "gen_ai.output.messages": json.dumps(answered),
    }


def program(tracer: Tracer, conversation: str | None = "conv-1") -> None:
    """An agent that runs tests, sees them fail, and says that they pass."""
    named = {} if conversation is None else {"gen_ai.conversation.id": conversation}
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "fixer"}
    with tracer.start_as_current_span("invoke_agent fixer", attributes=agent):
        first = {**CHAT, **usage("r1", 100), **exchange([ASKED], [CALLED])}
        with tracer.start_as_current_span("chat", attributes=first):
            pass
        tool = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "bash",
            "gen_ai.tool.call.id": "c1",
        }
        with (
            tracer.start_as_current_span("execute_tool bash", attributes=tool),
            tracer.start_as_current_span("GET /index"),
        ):
            pass
        history = [ASKED, CALLED, BROUGHT]
        second = {**CHAT, **named, **usage("r2", 150), **exchange(history, [DONE])}
        with tracer.start_as_current_span("chat", attributes=second):
            pass


def recorded(tell: Any) -> Sequence[ReadableSpan]:
    """Return the spans of a program, in the order that they ended."""
    memory = InMemorySpanExporter()
    provider = TracerProvider(
        resource=Resource({"service.name": "shop-bot", "service.version": "2.1"})
    )
    provider.add_span_processor(SimpleSpanProcessor(memory))
    tell(provider.get_tracer("tests"))
    provider.shutdown()
    return memory.get_finished_spans()


@contextmanager
def exporter(url: str, headers: Mapping[str, str] | None = None) -> Iterator[OTLPSpanExporter]:
    found = OTLPSpanExporter(
        endpoint=f"{url}/v1/traces",
        compression=Compression.Gzip,
        headers=dict(headers or {}),
        timeout=10,
    )
    try:
        yield found
    finally:
        found.shutdown()  # type: ignore[no-untyped-call]


def send(url: str, *batches: Sequence[ReadableSpan], **settings: Any) -> list[bool]:
    """Send batches; return which were taken."""
    with exporter(url, **settings) as sending:
        return [sending.export(batch).value == 0 for batch in batches]


def failing(tracer: Tracer) -> None:
    """A model that cannot be reached, and then can."""
    for status in (529, None):
        attributes = {**CHAT, "gen_ai.conversation.id": "trouble"}
        with tracer.start_as_current_span("chat", attributes=attributes) as span:
            if status is not None:
                span.set_status(Status(StatusCode.ERROR, "overloaded"))
                span.set_attribute("error.type", str(status))
