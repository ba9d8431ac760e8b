"""A request made of the events that the store keeps, when the transcript is gone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from fairtrial.model.call import Api, WireCall
from fairtrial.model.session import Call, Compaction, Prompt, Result, Said, SessionEvent
from fairtrial.sessions.requests.claude_code import MAX_TOKENS
from fairtrial.sessions.requests.conversation import sendable
from fairtrial.sessions.requests.tools import (
    CLAUDE_TOOLS,
    CODEX_TOOLS,
    STAND_IN,
    as_function,
    with_those_called,
)


def next_request(events: Sequence[SessionEvent], cwd: str, model: str, api: Api) -> WireCall:
    """Return a request that holds what an agent knew.

    Args:
        events: What it knew, in order; of one thread.
        cwd: The folder of the session.
        model: The model that is asked.
        api: The API; one of the two that agents speak.
    """
    messages = list(sendable(list(_messages(events))))
    system = STAND_IN.format(cwd=cwd)
    if api is Api.OPENAI_RESPONSES:
        tools = with_those_called(CODEX_TOOLS[:1], messages)
        body: dict[str, Any] = {
            "model": model,
            "instructions": system,
            "input": [item for message in messages for item in _items(message)],
            "tools": [as_function(tool) for tool in tools],
            "tool_choice": "auto",
            "store": False,
        }
        return WireCall(api, body)
    body = {
        "model": model,
        "max_tokens": MAX_TOKENS,
        "system": system,
        "tools": with_those_called(CLAUDE_TOOLS, messages),
        "messages": messages,
    }
    return WireCall(Api.ANTHROPIC_MESSAGES, body, {"anthropic-version": "2023-06-01"})


def _messages(events: Sequence[SessionEvent]) -> Iterator[dict[str, Any]]:
    for event in events:
        match event:
            case Prompt():
                yield _said("user", event.text)
            case Compaction():
                yield _said("user", event.summary or "(The conversation so far was summarised.)")
            case Said():
                yield _said("assistant", event.text)
            case Call():
                given = event.input if isinstance(event.input, dict) else {"input": event.input}
                block = {"type": "tool_use", "id": event.id, "name": event.tool, "input": given}
                yield {"role": "assistant", "content": [block]}
            case Result():
                result = {"type": "tool_result", "tool_use_id": event.call_id}
                result["content"] = event.text or "(no output)"
                yield {"role": "user", "content": [result]}
            case _:
                pass


def _said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "text": text or "…"}]}


def _items(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a message of the Messages API as items of the Responses API."""
    for block in message["content"]:
        match block["type"]:
            case "tool_use":
                arguments = json.dumps(block["input"], ensure_ascii=False)
                yield {
                    "type": "function_call",
                    "call_id": block["id"],
                    "name": block["name"],
                    "arguments": arguments,
                }
            case "tool_result":
                yield {
                    "type": "function_call_output",
                    "call_id": block["tool_use_id"],
                    "output": block["content"],
                }
            case _:
                kind = "input_text" if message["role"] == "user" else "output_text"
                content = [{"type": kind, "text": block["text"]}]
                yield {"type": "message", "role": message["role"], "content": content}
