"""The OpenAI Responses API: answers, the events of a stream, errors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from fairtrial.model.call import StopReason, ToolUse
from fairtrial.model.json import Json
from fairtrial.model.task import Tokens
from fairtrial.testing.model_server.events import Event
from fairtrial.testing.model_server.script import ScriptedAnswer, ScriptedRequest

_CREATED: Final = 1_700_000_000
_INCOMPLETE = {StopReason.LENGTH: "max_output_tokens"}
_ERRORS = {
    401: "invalid_request_error",
    404: "invalid_request_error",
    400: "invalid_request_error",
    429: "rate_limit_error",
}
_CODES = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}


def response(request: ScriptedRequest, answer: ScriptedAnswer) -> dict[str, Json]:
    """Return the whole answer."""
    ending = answer.ending
    incomplete = _INCOMPLETE.get(ending) if isinstance(ending, StopReason) else ending
    return {
        **_shell(request, answer, "incomplete" if incomplete else "completed"),
        "incomplete_details": {"reason": incomplete} if incomplete else None,
        "output": _items(request, answer),
        "usage": usage(answer.tokens),
    }


def usage(tokens: Tokens) -> dict[str, Json] | None:
    """Return counts in the API's words; None when none is known."""
    if tokens.total is None:
        return None
    read = (tokens.input or 0) + (tokens.cache_read or 0) + (tokens.cache_write or 0)
    written = tokens.output or 0
    return {
        "input_tokens": read,
        "input_tokens_details": {
            "cached_tokens": tokens.cache_read or 0,
            "cache_write_tokens": tokens.cache_write or 0,
        },
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": tokens.reasoning or 0},
        "total_tokens": read + written,
    }


def events(request: ScriptedRequest, answer: ScriptedAnswer) -> Iterator[Event]:
    """Yield the events of a stream."""
    for number, (kind, fields) in enumerate(_plain_events(request, answer)):
        yield Event({"type": kind, **fields, "sequence_number": number}, kind)


def error(answer: ScriptedAnswer, status: int) -> dict[str, Json]:
    """Return an error's body."""
    kind = answer.error_type or _ERRORS.get(status, "server_error")
    code = answer.error_code or _CODES.get(status)
    return {"error": {"message": answer.error, "type": kind, "param": None, "code": code}}


def error_event(request: ScriptedRequest, answer: ScriptedAnswer) -> Event:
    """Return the event that breaks a stream off: a failed response."""
    code = answer.error_code or answer.error_type or "server_error"
    failed = {
        **_shell(request, answer, "failed"),
        "error": {"code": code, "message": answer.error},
        "output": [],
    }
    return Event(
        {"type": "response.failed", "response": failed, "sequence_number": 99}, "response.failed"
    )


def _shell(request: ScriptedRequest, answer: ScriptedAnswer, status: str) -> dict[str, Json]:
    body = request.body if isinstance(request.body, dict) else {}
    return {
        "id": f"resp_scripted{request.number:04}",
        "object": "response",
        "created_at": _CREATED,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": body.get("instructions"),
        "max_output_tokens": body.get("max_output_tokens"),
        "metadata": {},
        "model": answer.model or request.model,
        "output": [],
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "reasoning": {"effort": None, "summary": None},
        "store": False,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": None,
    }


def _items(request: ScriptedRequest, answer: ScriptedAnswer) -> list[dict[str, Json]]:
    items: list[dict[str, Json]] = []
    if answer.thinking is not None:
        summary = [{"type": "summary_text", "text": answer.thinking}]
        items.append(
            {"type": "reasoning", "id": _id(request, "rs", 0), "summary": summary, "content": None}
        )
    if answer.words:
        part = (
            {"type": "refusal", "refusal": answer.words}
            if answer.ending is StopReason.REFUSAL
            else {"type": "output_text", "text": answer.words, "annotations": [], "logprobs": []}
        )
        items.append(
            {
                "type": "message",
                "id": _id(request, "msg", 0),
                "role": "assistant",
                "status": "completed",
                "content": [part],
            }
        )
    items += [_call(request, place, use) for place, use in enumerate(answer.tool_uses)]
    return items


def _call(request: ScriptedRequest, place: int, use: ToolUse) -> dict[str, Json]:
    shared = {"call_id": use.id, "name": use.name, "status": "completed"}
    if isinstance(use.input, str):
        item = {"type": "custom_tool_call", "id": _id(request, "ctc", place), **shared}
        return {**item, "input": use.input}
    arguments = json.dumps(use.input)
    item = {"type": "function_call", "id": _id(request, "fc", place), **shared}
    space, dot, name = use.name.partition(".")
    if dot and use.name in request.tool_names:
        item = {**item, "namespace": space, "name": name}
    return {**item, "arguments": arguments}


def _id(request: ScriptedRequest, prefix: str, place: int) -> str:
    return f"{prefix}_scripted{request.number:04}{place:02}"


def _plain_events(
    request: ScriptedRequest, answer: ScriptedAnswer
) -> Iterator[tuple[str, dict[str, Json]]]:
    whole = response(request, answer)
    started = _shell(request, answer, "in_progress")
    yield "response.created", {"response": started}
    yield "response.in_progress", {"response": started}
    for index, item in enumerate(whole["output"]):
        yield from _item(index, item, answer)
    yield f"response.{whole['status']}", {"response": whole}


def _item(
    index: int, item: dict[str, Json], answer: ScriptedAnswer
) -> Iterator[tuple[str, dict[str, Json]]]:
    place = {"item_id": item["id"], "output_index": index}
    pending = {**item, "status": "in_progress"}
    if item["type"] == "message":
        pending["content"] = []
    elif item["type"] == "function_call":
        pending["arguments"] = ""
    elif item["type"] == "custom_tool_call":
        pending["input"] = ""
    else:
        pending = {**item, "summary": []}
    yield "response.output_item.added", {"output_index": index, "item": pending}
    if item["type"] == "message":
        yield from _part(place, item["content"][0], answer)
    elif item["type"] == "reasoning":
        yield from _summary(place, item["summary"][0], answer)
    elif item["type"] == "function_call":
        yield from _text(
            "response.function_call_arguments", place, item["arguments"], answer, "arguments"
        )
    else:
        yield from _text("response.custom_tool_call_input", place, item["input"], answer, "input")
    yield "response.output_item.done", {"output_index": index, "item": item}


def _part(
    place: dict[str, Json], part: dict[str, Json], answer: ScriptedAnswer
) -> Iterator[tuple[str, dict[str, Json]]]:
    place = {**place, "content_index": 0}
    key = "refusal" if part["type"] == "refusal" else "text"
    yield "response.content_part.added", {**place, "part": {**part, key: ""}}
    kind = "response.refusal" if key == "refusal" else "response.output_text"
    extra: dict[str, Json] = {} if key == "refusal" else {"logprobs": []}
    yield from _text(kind, {**place, **extra}, part[key], answer, key)
    yield "response.content_part.done", {**place, "part": part}


def _summary(
    place: dict[str, Json], part: dict[str, Json], answer: ScriptedAnswer
) -> Iterator[tuple[str, dict[str, Json]]]:
    place = {**place, "summary_index": 0}
    yield "response.reasoning_summary_part.added", {**place, "part": {**part, "text": ""}}
    yield from _text("response.reasoning_summary_text", place, part["text"], answer, "text")
    yield "response.reasoning_summary_part.done", {**place, "part": part}


def _text(
    kind: str, place: dict[str, Json], text: str, answer: ScriptedAnswer, key: str
) -> Iterator[tuple[str, dict[str, Json]]]:
    for piece in answer.pieces(text):
        yield f"{kind}.delta", {**place, "delta": piece}
    yield f"{kind}.done", {**place, key: text}
