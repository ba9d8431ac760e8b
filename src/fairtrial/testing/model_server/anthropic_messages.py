"""The Anthropic Messages API: answers, the events of a stream, errors."""

from __future__ import annotations

import json
from collections.abc import Iterator

from fairtrial.model.call import StopReason
from fairtrial.model.json import Json
from fairtrial.model.task import Tokens
from fairtrial.testing.model_server.events import Event
from fairtrial.testing.model_server.script import ScriptedAnswer, ScriptedRequest

SIGNATURE = "c2NyaXB0ZWQ="
_STOPS = {
    StopReason.END: "end_turn",
    StopReason.TOOL_USE: "tool_use",
    StopReason.LENGTH: "max_tokens",
    StopReason.REFUSAL: "refusal",
}
_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def message(request: ScriptedRequest, answer: ScriptedAnswer) -> dict[str, Json]:
    """Return the whole answer."""
    content: list[Json] = []
    if answer.thinking is not None:
        content.append({"type": "thinking", "thinking": answer.thinking, "signature": SIGNATURE})
    if answer.words:
        content.append({"type": "text", "text": answer.words})
    content += [
        {"type": "tool_use", "id": use.id, "name": use.name, "input": use.input}
        for use in answer.tool_uses
    ]
    ending = answer.ending
    return {
        "id": f"msg_scripted{request.number:04}",
        "type": "message",
        "role": "assistant",
        "model": answer.model or request.model,
        "content": content,
        "stop_reason": _STOPS[ending] if isinstance(ending, StopReason) else ending,
        "stop_sequence": None,
        "usage": usage(answer.tokens),
    }


def usage(tokens: Tokens) -> dict[str, Json]:
    """Return counts in the API's words."""
    counts = {
        "input_tokens": tokens.input,
        "cache_creation_input_tokens": tokens.cache_write,
        "cache_read_input_tokens": tokens.cache_read,
        "output_tokens": tokens.output,
    }
    known: dict[str, Json] = {name: count for name, count in counts.items() if count is not None}
    if tokens.cache_write is not None:
        known["cache_creation"] = {
            "ephemeral_5m_input_tokens": tokens.cache_write,
            "ephemeral_1h_input_tokens": 0,
        }
    if tokens.reasoning is not None:
        known["output_tokens_details"] = {"thinking_tokens": tokens.reasoning}
    return {**known, "service_tier": "standard"}


def events(request: ScriptedRequest, answer: ScriptedAnswer) -> Iterator[Event]:
    """Yield the events of a stream."""
    whole = message(request, answer)
    counts = whole["usage"]
    started = {**counts, "output_tokens": 1} if "output_tokens" in counts else counts
    start = {**whole, "content": [], "stop_reason": None, "usage": started}
    yield _event("message_start", message=start)
    yield _event("ping")
    for index, block in enumerate(whole["content"]):
        yield from _block(index, block, answer)
    final = {name: value for name, value in counts.items() if name.endswith(("tokens", "details"))}
    yield _event(
        "message_delta",
        delta={"stop_reason": whole["stop_reason"], "stop_sequence": None},
        usage=final,
    )
    yield _event("message_stop")


def error(answer: ScriptedAnswer, status: int) -> dict[str, Json]:
    """Return an error's body."""
    kind = answer.error_type or _ERRORS.get(status, "api_error")
    return {
        "type": "error",
        "error": {"type": kind, "message": answer.error},
        "request_id": "req_scripted",
    }


def error_event(answer: ScriptedAnswer) -> Event:
    """Return the event that breaks a stream off."""
    return Event(error(answer, 529), "error")


def _block(index: int, block: dict[str, Json], answer: ScriptedAnswer) -> Iterator[Event]:
    kind = block["type"]
    empty: dict[str, Json]
    deltas: list[dict[str, Json]]
    if kind == "text":
        empty, deltas = (
            {"type": "text", "text": ""},
            [{"type": "text_delta", "text": piece} for piece in answer.pieces(block["text"])],
        )
    elif kind == "thinking":
        empty = {"type": "thinking", "thinking": "", "signature": ""}
        deltas = [
            {"type": "thinking_delta", "thinking": piece}
            for piece in answer.pieces(block["thinking"])
        ]
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
    else:
        empty = {**block, "input": {}}
        written = json.dumps(block["input"]) if block["input"] else ""
        deltas = [
            {"type": "input_json_delta", "partial_json": piece}
            for piece in ["", *answer.pieces(written)]
        ]
    yield _event("content_block_start", index=index, content_block=empty)
    for delta in deltas:
        yield _event("content_block_delta", index=index, delta=delta)
    yield _event("content_block_stop", index=index)


def _event(kind: str, **fields: Json) -> Event:
    return Event({"type": kind, **fields}, kind)
